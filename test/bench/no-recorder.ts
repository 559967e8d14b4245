/** Stands in for src/report/record/record-files.ts in the bench's program that records nothing. */
import type { ownRecord as realRecord, recorder as real } from '../../src/report/record/record-files.ts';

/** As the real one; it writes nothing, and so there is no trace. */
export * from '../../src/report/record/record-files.ts';

export const recorder: typeof real = (path) => ({
  path,
  write: () => undefined,
  flush: () => undefined,
  close: () => undefined,
  isWritten: () => false,
});

/** Nothing was written that could be read again. */
export const ownRecord: typeof realRecord = () => {
  throw new Error('the bench records nothing');
};
