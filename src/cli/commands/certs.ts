import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { hosts, usual } from '../options.ts';

export const certs = declare({
  name: 'certs',
  summary: 'Show every certificate of the cluster: its host, subject, end, and what renews it',
  details:
    'Exit 5 when one has expired, 3 when those of a host are not known. `kbuild certs renew` renews them, see [operations](operations.md#certificates).',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    option('--metrics <file>', {
      summary: "also write them in Prometheus' text format, for node_exporter's textfile collector",
      details: 'The file takes its place whole, mode 0644.',
    }),
  ],
  examples: ['kbuild certs', 'kbuild certs --json', 'kbuild certs --metrics /var/lib/node_exporter/kbuild.prom'],
});

/** The values of its options. */
export type CertsOptions = OptionsOf<typeof certs>;
