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
    option('--markdown', {
      summary: "print the plan as Markdown that fits a pull request's comment",
      details: 'At most 65,536 characters. What hosts print cannot steer it. See [In a pipeline](ci.md).',
      conflicts: 'json',
    }),
    option('--detailed-exitcode', {
      summary: 'exit 10 when changes are pending',
      details: 'What `up` would only wait for is no change.',
    }),
  ],
  examples: [
    'kbuild plan',
    'kbuild plan --diff',
    'kbuild plan --markdown > plan.md',
    'kbuild plan --detailed-exitcode',
  ],
});

/** The values of its options. */
export type PlanOptions = OptionsOf<typeof plan>;
