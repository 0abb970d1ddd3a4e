"""The cluster's certificates, of an authority of its own, and what each program shows the API."""

import subprocess

from k8s import layout
from k8s.layout import PKI, STATE

_API_NAMES = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
]
_API_ADDRESSES = [layout.HOST_ADDRESS, "10.96.0.1", "127.0.0.1"]
# Whoever shows the certificate is this user.
_USERS = {
    "admin": "/O=system:masters/CN=admin",
    "controller-manager": "/CN=system:kube-controller-manager",
    "scheduler": "/CN=system:kube-scheduler",
    "proxy": "/CN=system:kube-proxy",
}


def prepare() -> None:
    """Makes what is missing."""
    PKI.mkdir(parents=True, exist_ok=True)
    if not (PKI / "ca.crt").exists():
        usage = "keyUsage=critical,keyCertSign,cRLSign"
        make = "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 30"
        _openssl(*make.split(), "-subj", "/CN=rehearsal", "-addext", usage)
    if not (PKI / "sa.key").exists():
        _openssl("genrsa", "-out", "sa.key", "2048")
    names = [f"DNS:{name}" for name in _API_NAMES] + [f"IP:{it}" for it in _API_ADDRESSES]
    issue("apiserver", "/CN=kube-apiserver", names)
    issue("kubelet-client", "/O=system:masters/CN=apiserver-kubelet-client")
    issue("front-proxy", "/CN=front-proxy-client")
    for user, subject in _USERS.items():
        issue(user, subject)
        _write_kubeconfig(user)
    for number, node in enumerate(layout.node_names(), start=1):
        subject = f"/O=system:nodes/CN=system:node:{node}"
        issue(node, subject, [f"IP:{layout.node_address(number)}"])
        _write_kubeconfig(node)


def issue(name: str, subject: str, alternative_names: list[str] | None = None) -> None:
    """NAME.crt and NAME.key, once."""
    if (PKI / f"{name}.crt").exists():
        return
    request = f"req -new -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj"
    _openssl(*request.split(), subject)
    extensions = "extendedKeyUsage=serverAuth,clientAuth\n"
    if alternative_names:
        extensions += f"subjectAltName={','.join(alternative_names)}\n"
    (PKI / f"{name}.ext").write_text(extensions, encoding="ascii")
    sign = f"x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30"
    _openssl(*sign.split(), "-out", f"{name}.crt", "-extfile", f"{name}.ext")


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=PKI, check=True, capture_output=True)


def _write_kubeconfig(user: str) -> None:
    (STATE / f"{user}.kubeconfig").write_text(
        "apiVersion: v1\n"
        "kind: Config\n"
        "clusters:\n"
        "- name: rehearsal\n"
        f"  cluster: {{server: '{layout.API_SERVER}', certificate-authority: {PKI}/ca.crt}}\n"
        "users:\n"
        f"- name: {user}\n"
        f"  user: {{client-certificate: {PKI}/{user}.crt, client-key: {PKI}/{user}.key}}\n"
        "contexts:\n"
        f"- name: rehearsal\n  context: {{cluster: rehearsal, user: {user}}}\n"
        "current-context: rehearsal\n",
        encoding="ascii",
    )
