<?php
// One mail to each recipient by PHPMailer: host, port, user, password, sender, `starttls`, `tls` or
// `default`, and the recipients.
declare(strict_types=1);

require '/usr/share/php/libphp-phpmailer/autoload.php';

use PHPMailer\PHPMailer\PHPMailer;

[, $host, $port, $user, $password, $sender, $security] = $argv;
$mail = new PHPMailer(true);
$mail->isSMTP();
$mail->Host = $host;
$mail->Port = (int) $port;
$mail->SMTPAuth = true;
$mail->Username = $user;
$mail->Password = $password;
if ($security !== 'default') {
    $mail->SMTPSecure =
        $security === 'tls' ? PHPMailer::ENCRYPTION_SMTPS : PHPMailer::ENCRYPTION_STARTTLS;
}
$mail->SMTPKeepAlive = true;
$mail->setFrom($sender);
$mail->Body = 'hi';
foreach (array_slice($argv, 7) as $number => $recipient) {
    $mail->clearAddresses();
    $mail->addAddress($recipient);
    $mail->Subject = 'mail ' . $number;
    $mail->send();
}
$mail->smtpClose();
