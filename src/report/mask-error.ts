import { KbuildError, SeveralErrors } from '../errors.ts';
import type { Masker } from './mask.ts';

/** Masks secrets in an error, in its stack and remedy, and in the errors that it consists of. Returns the error. */
export function maskError<E extends Error>(error: E, mask: Masker): E {
  error.message = mask.text(error.message);
  if (error.stack !== undefined) error.stack = mask.text(error.stack);
  if (error instanceof KbuildError && error.remedy !== undefined)
    Object.assign(error, { remedy: mask.text(error.remedy) });
  if (error instanceof SeveralErrors) for (const each of error.errors) maskError(each, mask);
  return error;
}
