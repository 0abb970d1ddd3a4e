-- Mail is stored by mailbox.store_mail_once alone (0004); the function before it, which knew no repeats, has no caller left.
DROP FUNCTION mailbox.store_mail;
