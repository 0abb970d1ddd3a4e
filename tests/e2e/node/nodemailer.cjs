// Sends one message: `{"options": …, "message": …}` as the only argument.
const nodemailer = require('nodemailer');

const { options, message } = JSON.parse(process.argv[2]);

nodemailer
  .createTransport(options)
  .sendMail(message)
  .catch((/** @type {unknown} */ error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
