# One mail to each recipient by Ruby's net-smtp: host, port, user, password, sender, `starttls` or
# `tls`, and the recipients.
require 'net/smtp'

host, port, user, password, sender, security, *recipients = ARGV
client = Net::SMTP.new(host, port.to_i)
security == 'tls' ? client.enable_tls : client.enable_starttls
client.start('localhost', user, password, :plain) do |session|
  recipients.each_with_index do |recipient, number|
    session.send_message("To: #{recipient}\r\nSubject: mail #{number}\r\n\r\nhi\r\n", sender, recipient)
  end
end
