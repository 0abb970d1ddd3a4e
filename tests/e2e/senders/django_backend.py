"""One mail to each recipient by Django's backend for SMTP: host, port, user, password, sender,
`starttls`, `tls` or `default`, and the recipients.
"""

import sys

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

host, port, user, password, sender, security, *recipients = sys.argv[1:]
settings.configure(
    EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
    EMAIL_HOST=host,
    EMAIL_PORT=int(port),
    EMAIL_HOST_USER=user,
    EMAIL_HOST_PASSWORD=password,
    EMAIL_USE_TLS=security == "starttls",
    EMAIL_USE_SSL=security == "tls",
)
messages = [
    EmailMessage(f"mail {number}", "hi", sender, [recipient])
    for number, recipient in enumerate(recipients)
]
assert get_connection().send_messages(messages) == len(recipients)
