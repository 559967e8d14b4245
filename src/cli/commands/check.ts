import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { codeQuality, dead, hosts, ignoreCheck, usual } from '../options.ts';

export const check = declare({
  name: 'check',
  summary: 'Run every preflight check and show all findings; changes nothing',
  details: 'See [Checks](checks.md). `--active` adds the surveys.',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    dead,
    ignoreCheck,
    option('--active', {
      summary: 'run the surveys too: connections between hosts, disks for etcd, downloads',
      details:
        'On a live cluster they also test the network from a pod on every node. Surveys listen on free ports, write one temporary file, and create and delete one namespace.',
    }),
    option('--junit <file>', { summary: 'write the findings as JUnit XML' }),
    codeQuality,
  ],
  examples: ['kbuild check', 'kbuild check --json | jq .findings', 'kbuild check --active --junit check.xml'],
});

/** The values of its options. */
export type CheckOptions = OptionsOf<typeof check>;
