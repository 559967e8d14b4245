/** Prints the Debian packages of the programs that tests need, for `test/packages.sh`. */
import { packagesOf } from './table.ts';

console.log(packagesOf('apt').join('\n'));
