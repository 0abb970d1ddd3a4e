<?php
// One mail to each recipient by Symfony's Mailer: host, port, user, password, sender, `starttls`,
// `tls` or `default`, and the recipients.
declare(strict_types=1);

require '/usr/share/php/Symfony/Component/Mailer/autoload.php';

use Symfony\Component\Mailer\Mailer;
use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mime\Email;

[, $host, $port, $user, $password, $sender, $security] = $argv;
$scheme = $security === 'tls' ? 'smtps' : 'smtp';
$mailer = new Mailer(Transport::fromDsn("$scheme://$user:$password@$host:$port"));
foreach (array_slice($argv, 7) as $number => $recipient) {
    $mailer->send(
        (new Email())->from($sender)->to($recipient)->subject('mail ' . $number)->text('hi')
    );
}
