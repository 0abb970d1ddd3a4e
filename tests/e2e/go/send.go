package main

import (
	"crypto/tls"
	"net"
	"net/smtp"
	"os"
	"strings"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Sends one message with a login: host, port, user, password, sender, `yes` for TLS from the first
// byte, and the recipients.
func main() {
	host, port, user, password := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	from, secure := os.Args[5], os.Args[6]
	to := os.Args[7:]
	body := []byte("From: " + from + "\r\nSubject: Go\r\nTo: " + strings.Join(to, ", ") + "\r\n\r\nhi\r\n")
	auth := smtp.PlainAuth("", user, password, host)
	if secure != "yes" {
		check(smtp.SendMail(net.JoinHostPort(host, port), auth, from, to, body))
		return
	}
	connection, err := tls.Dial("tcp", net.JoinHostPort(host, port), &tls.Config{ServerName: host})
	check(err)
	client, err := smtp.NewClient(connection, host)
	check(err)
	check(client.Auth(auth))
	check(client.Mail(from))
	for _, one := range to {
		check(client.Rcpt(one))
	}
	writer, err := client.Data()
	check(err)
	_, err = writer.Write(body)
	check(err)
	check(writer.Close())
	check(client.Quit())
}
