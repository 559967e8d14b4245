import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import { duration, option, parsedOption, usual } from '../session/options.ts';

export const windowsSelftest = declare({
  name: 'selftest',
  summary: 'Test every connection to and from Windows pods; creates and deletes one namespace',
  details: 'Prints a table of pass, FAIL, limit and not tried (exit 5 with a FAIL). See [windows.md](windows.md).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [
    ...usual,
    option('--os <system>', {
      completes: ['windows', 'linux'],
      summary: 'windows, or linux: the same connections on Linux nodes (default: windows)',
    }),
    option('--outside <host:port>', {
      summary: "what pods reach outside the cluster, best a name (default: the test image's registry)",
    }),
    parsedOption('--timeout <duration>', duration, { summary: 'how long the pods may take to run (default 20m)' }),
  ],
  examples: [
    'kbuild windows selftest',
    'kbuild windows selftest --os linux',
    'kbuild windows selftest --json | jq .rows',
  ],
});

/** The values of its options. */
export type WindowsSelftestOptions = OptionsOf<typeof windowsSelftest>;
