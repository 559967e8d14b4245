import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { connecting, dead, everywhere, hosts, ignoreCheck, json, phase, quiet } from '../options.ts';

export const plan = declare({
  name: 'plan',
  summary: 'Show what up would change; changes nothing',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    json,
    quiet,
    ...connecting,
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
