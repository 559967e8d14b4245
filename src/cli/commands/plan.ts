import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { dead, hosts, ignoreCheck, phase, usual } from '../options.ts';

export const plan = declare({
  name: 'plan',
  summary: 'Show what up would change; changes nothing',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    phase,
    dead,
    ignoreCheck,
    option('--diff', { summary: 'show contents too', details: 'A changed secret is shown as `(secret differs)`.' }),
    option('--detailed-exitcode', {
      summary: 'exit 10 when changes are pending',
      details: 'What `up` would only wait for is no change.',
    }),
  ],
  examples: ['kbuild plan', 'kbuild plan --diff', 'kbuild plan --detailed-exitcode'],
});

/** The values of its options. */
export type PlanOptions = OptionsOf<typeof plan>;
