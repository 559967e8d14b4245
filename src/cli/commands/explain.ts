import { declare, type OptionsOf } from '../command.ts';
import { json, noColor } from '../options.ts';

export const explain = declare({
  name: 'explain',
  summary: 'Explain a setting of the inventory, a check or an exit code',
  details:
    'Type, default, allowed values, an example, what it is for, and where to read more, from the same source as these pages. `explain`, `explain check` and `explain exit` alone list what there is. Reads no inventory.',
  onHosts: 'nothing',
  operand: { name: '[topic...]', summary: 'a setting, "check NAME" or "exit CODE"', completes: 'topics' },
  options: [json, noColor],
  examples: [
    'kbuild explain network.podSubnet',
    'kbuild explain hosts[].labels',
    'kbuild explain check clock-skew',
    'kbuild explain exit 7',
  ],
});

/** The values of its options. */
export type ExplainOptions = OptionsOf<typeof explain>;
