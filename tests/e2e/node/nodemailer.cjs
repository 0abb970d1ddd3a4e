// Sends one message: `{"options": …, "message": …}` as the only argument. Prints who was accepted and
// who refused, or the code of what failed.
const nodemailer = require('nodemailer');

const { options, message } = JSON.parse(process.argv[2]);
const transport = nodemailer.createTransport(options);

transport
  .sendMail(message)
  .then(
    ({ accepted, rejected }) => {
      console.log(JSON.stringify({ accepted, rejected }));
    },
    (/** @type {unknown} */ thrown) => {
      const error = /** @type {Error & {code: string}} */ (thrown);
      console.error(`${error.code}: ${error.message}`);
      process.exitCode = 1;
    },
  )
  .finally(() => {
    transport.close();
  });
