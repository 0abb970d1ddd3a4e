# One mail to each recipient by Ruby's net-smtp: host, port, user, password, sender, `starttls`, `tls`
# or `default`, and the recipients.
require 'net/smtp'

host, port, user, password, sender, security, *recipients = ARGV
client = Net::SMTP.new(host, port.to_i)
client.enable_tls if security == 'tls'
client.enable_starttls if security == 'starttls'
client.start('localhost', user, password, :plain) do |session|
  recipients.each_with_index do |recipient, number|
    session.send_message("To: #{recipient}\r\nSubject: mail #{number}\r\n\r\nhi\r\n", sender, recipient)
  end
end
