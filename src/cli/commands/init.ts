import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option, parsedOption } from '../option.ts';
import { everywhere, list } from '../options.ts';

export const init = declare({
  name: 'init',
  summary: 'Write a commented inventory, to standard output or to a new file',
  details:
    'Asks a few questions. It asks none when one of its own flags is given, or where stdin is no terminal. It never overwrites a file. Beside a new file it writes `inventory.schema.json` for [editors](#editors).',
  onHosts: 'nothing',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    option('--name <name>', { summary: 'name of the cluster' }),
    option('--kubernetes <version>', { summary: 'exact version, e.g. 1.36.3' }),
    parsedOption('--control-plane <hosts>', list, { summary: '[name=]address[/internalAddress], several with commas' }),
    parsedOption('--worker <hosts>', list, { summary: 'the same for workers' }),
    option('--endpoint <host:port>', { summary: 'address of the API: your own load balancer or DNS name' }),
    option('--virtual-address <address>', {
      summary: 'an unused address that kbuild moves between the control planes (keepalived)',
    }),
    option('--user <name>', { summary: 'user for SSH' }),
    option('--identity-file <path>', { summary: 'private key for SSH' }),
  ],
  examples: [
    'kbuild init > inventory.yaml',
    'kbuild init prod.yaml --control-plane 10.0.0.11 --worker 10.0.0.21,w2=10.0.0.22',
  ],
});

/** The values of its options. */
export type InitOptions = OptionsOf<typeof init>;
