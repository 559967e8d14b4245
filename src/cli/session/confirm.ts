import { UsageError } from '../../errors.ts';
import type { Run } from './run.ts';

/** Asks for confirmation, unless `--yes`. False: the operator declines. @throws UsageError if there is no terminal to ask on */
export async function confirmed({ context, flags }: Run, question: string): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!context.canAsk) {
    throw new UsageError('changes are due and there is no terminal to ask on; nothing was changed', {
      remedy: 'pass --yes to go ahead without a question',
    });
  }
  return /^y(es)?$/i.test((await context.ask(`${question} [y/N] `)).trim());
}
