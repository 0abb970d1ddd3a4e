import jakarta.mail.Message;
import jakarta.mail.Session;
import jakarta.mail.internet.MimeMessage;
import java.util.Properties;

/**
 * One mail to each recipient by Jakarta Mail: host, port, user, password, sender, `starttls`, `tls`
 * or `default`, and the recipients.
 */
final class JakartaMail {
    public static void main(String[] args) throws Exception {
        var protocol = args[5].equals("tls") ? "smtps" : "smtp";
        var properties = new Properties();
        if (args[5].equals("starttls")) {
            properties.put("mail.smtp.starttls.required", "true");
        }
        properties.put("mail." + protocol + ".auth", "true");
        var session = Session.getInstance(properties);
        try (var transport = session.getTransport(protocol)) {
            transport.connect(args[0], Integer.parseInt(args[1]), args[2], args[3]);
            for (int number = 0; number < args.length - 6; ++number) {
                var message = new MimeMessage(session);
                message.setFrom(args[4]);
                message.setRecipients(Message.RecipientType.TO, args[number + 6]);
                message.setSubject("mail " + number);
                message.setText("hi");
                message.saveChanges();
                transport.sendMessage(message, message.getAllRecipients());
            }
        }
    }
}
