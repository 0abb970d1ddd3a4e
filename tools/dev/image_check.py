"""`./dev image --check`: tries built images as an operator would run them."""

import contextlib
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial

from dev import container_check, image, one_vm, paths, version
from dev.docker import Docker, engine
from dev.terminal import Failure, Missing, fail, heading, item, paint, say
from dev.waiting import wait_until

_HARDENED = ["--read-only", "--cap-drop=ALL", "--network=none"]
_HARDENED += ["--security-opt", "no-new-privileges", "--memory=64m", "--pids-limit=32"]
# Shells, compilers, interpreters, and what installs more.
_TOOLS = "sh bash dash ash busybox zsh cc gcc g++ clang ld as make perl python3? apt apt-get dpkg"
_UNWANTED = re.compile(rf"(.*/)?s?bin/({'|'.join(_TOOLS.replace('+', '[+]').split())})(-[\d.]+)?")
_ALL_IN_ONE_SECONDS = 8
_ALL_IN_ONE_MB = 300
_COMPOSE_SECONDS = 180
_COMPOSE = paths.ROOT / "deploy" / "compose"
_PROJECT = "tempinbox-image-check"
# Ports of the compose trial, apart from those of a suite that runs here.
_PORTS = {"API_PORT": "18080", "SMTP_PORT": "12525"}


def run(names: list[str]) -> int:
    """Tries these images; the exit code is 1 if any is not as it must be."""
    failed = 0
    with engine(image.FOLDER / "docker", with_networks=True) as docker:
        for name in names:
            if not docker.has_image(image.tag(name)):
                fail(f"{image.tag(name)} is not built: ./dev image {name}")
        trials: list[tuple[str, Callable[[], str]]] = [
            (name, partial(_service, docker, name))
            for name in names
            if name in image.SERVICE_IMAGES
        ]
        if "all-in-one" in names:
            trials.append(("all-in-one", partial(_all_in_one, docker)))
            trials.append(("containers", partial(container_check.run, docker)))
        if set(image.SERVICE_IMAGES) <= set(names):
            trials.append(("compose", partial(_compose, docker)))
        if set(image.SERVICE_IMAGES + image.DATA_IMAGES) <= set(names):
            trials.append(("one VM", partial(one_vm.try_kills, docker)))
        heading(f"Trying {len(trials)} things")
        for name, trial in trials:
            try:
                item(name, trial())
            except Missing:
                raise
            except Failure as failure:
                failed += 1
                item(name, paint("failed: ", "red") + str(failure))
    say(f"{len(trials) - failed} passed, {failed} failed")
    return 1 if failed else 0


# A service's image.


def _service(docker: Docker, name: str) -> str:
    said = docker.run("run", "--rm", *_HARDENED, image.tag(name), "--version").strip()
    if not said.endswith(" " + version.current()):
        fail(f"--version says {said}")
    user = docker.run("image", "inspect", "--format", "{{.Config.User}}", image.tag(name)).strip()
    if user != "10001:10001":
        fail(f"it runs as {user or 'root'}")
    with image.filesystem(docker, name) as opened:
        files = [member for member in opened if member.isfile() or member.issym()]
    if tools := [member.name for member in files if _UNWANTED.fullmatch(member.name)]:
        fail(f"it holds {', '.join(tools)}")
    rights = stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH
    if loose := [member.name for member in files if member.isfile() and member.mode & rights]:
        fail(f"setuid or writable by all: {', '.join(loose)}")
    if own := [member.name for member in files if member.uid != 0]:
        fail(f"not root's: {', '.join(own[:5])}")
    return f"{said}; hardened, no shell, {len(files)} files, all of them root's"


# All in one.


@contextlib.contextmanager
def _container(docker: Docker, *arguments: str) -> Iterator[str]:
    name = docker.run("run", "--detach", *arguments).strip()
    try:
        yield name
    finally:
        docker.attempt("rm", "--force", "--volumes", name)


def _all_in_one(docker: Docker) -> str:
    tag = image.tag("all-in-one")
    megabytes = image.size(docker, "all-in-one") / 1e6
    if megabytes > _ALL_IN_ONE_MB:
        fail(f"{megabytes:.0f} MB, {_ALL_IN_ONE_MB} at most")
    started = time.monotonic()
    with _container(docker, "--cap-drop=ALL", "--security-opt", "no-new-privileges", tag) as name:
        try:
            wait_until(
                lambda: _health(docker, name) == "healthy", started + 120, "healthy", every=0.2
            )
        except TimeoutError:
            fail("not healthy in 120 s:\n" + _log(docker, name))
        seconds = time.monotonic() - started
        _smoke_inside(docker, name)
        stopping = time.monotonic()
        docker.run("stop", "--time", "60", name)
        stopped = time.monotonic() - stopping
        code = docker.run("inspect", "--format", "{{.State.ExitCode}}", name).strip()
        if code != "0":
            fail(f"stopped with exit code {code}:\n" + _log(docker, name))
    if seconds > _ALL_IN_ONE_SECONDS:
        fail(f"ready after {seconds:.1f} s, {_ALL_IN_ONE_SECONDS} s at most")
    return (
        f"{megabytes:.0f} MB, ready in {seconds:.1f} s, smoke test passed, stopped in "
        f"{stopped:.1f} s with exit code 0"
    )


def _health(docker: Docker, container: str) -> str:
    """Its health; what its state is where it has none or does not run."""
    form = "{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{end}}"
    status, _, health = docker.run("inspect", "--format", form, container).strip().partition(" ")
    if status == "exited":
        fail("it ended by itself:\n" + _log(docker, container))
    return health or status


def _log(docker: Docker, container: str) -> str:
    said = docker.attempt("logs", "--tail", "30", container)
    return said.stdout + said.stderr


def _smoke_inside(docker: Docker, container: str) -> None:
    smoke = ["/usr/bin/tempinboxctl", "smoke", "--api-key-file", "/var/lib/tempinbox/api-key"]
    said = docker.run("exec", container, *smoke)
    if "smoke test passed" not in said:
        fail(said)


# Compose.


def _compose(docker: Docker) -> str:
    command = _compose_command(docker)
    environment = docker.environment | _PORTS | _data_images(docker)
    environment |= {"TEMPINBOX_VERSION": version.current()}

    def compose(*arguments: str) -> str:
        done = subprocess.run(
            [*command, "--project-name", _PROJECT, *arguments],
            cwd=_COMPOSE,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0:
            fail(f"{' '.join(arguments)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    compose("down", "--volumes")  # what a trial that was killed left behind
    started = time.monotonic()
    try:
        compose("up", "--detach")
        containers = compose("ps", "--quiet").split()
        wait_until(
            lambda: all(_is_settled(docker, container) for container in containers),
            started + _COMPOSE_SECONDS,
            "every container is healthy, or ended with 0",
            every=0.5,
        )
        seconds = time.monotonic() - started
        said = compose("run", "--rm", "-T", "smoke")
        if "smoke test passed" not in said:
            fail(said)
        _asks_published_port(docker)
    except TimeoutError as error:
        fail(f"{error}\n{compose('ps')}{compose('logs', '--tail=20')}")
    finally:
        compose("down", "--volumes", "--timeout", "60")
    left = docker.run("ps", "--all", "--quiet", "--filter", f"name={_PROJECT}").split()
    if left:
        fail(f"{len(left)} containers are left")
    return (
        f"{len(containers)} containers healthy or done in {seconds:.0f} s, smoke test passed, "
        "nothing is left"
    )


def _compose_command(docker: Docker) -> list[str]:
    if docker.attempt("compose", "version").returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    raise Missing("docker-compose is missing: install Debian's package of that name.")


def _data_images(docker: Docker) -> dict[str, str]:
    """Our own images of PostgreSQL and Kafka where they are built; else the public ones."""
    own = {"POSTGRES_IMAGE": image.tag("postgres"), "KAFKA_IMAGE": image.tag("kafka")}
    return own if all(docker.has_image(name) for name in own.values()) else {}


def _is_settled(docker: Docker, container: str) -> bool:
    form = (
        "{{.State.Status}} {{.State.ExitCode}} {{if .State.Health}}{{.State.Health.Status}}{{end}}"
    )
    words = docker.run("inspect", "--format", form, container).split()
    return words[:2] == ["exited", "0"] or words[2:] == ["healthy"]


def _asks_published_port(docker: Docker) -> None:
    """The API's port on this machine answers, beside the containers' own network."""
    url = f"http://127.0.0.1:{_PORTS['API_PORT']}/openapi.json"
    command = docker.inside("curl", "--silent", "--fail", "--max-time", "10", "--output", "-", url)
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        fail(f"{url} does not answer (curl: {done.returncode})")
