// Parts of the command line, from the built package.
import './package.mjs'; // builds it where a source is newer

/** A module of src/cli. */
export async function part(name) {
  return await import(new URL(`../../dist/esm/cli/${name}.js`, import.meta.url));
}

/** A system with these variables and no others. */
export function system(name, variables = {}) {
  return { name, variables: (variable) => variables[variable] };
}

/** The message that the call throws; fails where it throws none. */
export function refusalOf(call) {
  try {
    call();
  } catch (error) {
    return error.message;
  }
  throw new Error('nothing was refused');
}
