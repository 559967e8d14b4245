/** The first part of `npm run typecheck`: the types that the library's declarations need, which `npm run build` writes. */
import { declarations } from './declarations.config.ts';

try {
  declarations('src', 'library.ts');
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
