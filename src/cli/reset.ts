import { UsageError } from '../errors.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
export const runReset = (_context: Context, _flags: Flags): Promise<number> => Promise.reject(new UsageError('coming'));
