import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { documentJsonSchema } from '../../src/report/documents/documents.ts';
import { type DocumentName, type DocumentOf, jsonDocument } from '../../src/report/json.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
const compiled = new Map<DocumentName, ValidateFunction>();

/** What a document has that its schema does not allow, or lacks: `/nodes/0: must have required property 'ready'`. */
export function faultsOf(name: DocumentName, document: unknown): readonly string[] {
  const validate = compiled.get(name) ?? ajv.compile(documentJsonSchema(name, '2020-12', 'strict'));
  compiled.set(name, validate);
  if (validate(document)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

/** The same of what a command hands over to be printed. */
export const faultsIn = <Name extends DocumentName>(name: Name, content: DocumentOf<Name>): readonly string[] =>
  faultsOf(name, JSON.parse(jsonDocument<Name>(content)));

/** What a command prints with `--json`, and with `--plan --json` where that is another document; the longest name first. */
const BY_COMMAND: readonly (readonly [command: string, name: DocumentName, plan?: DocumentName])[] = [
  ['certs renew-ca', 'event', 'authority-plan'],
  ['certs rotate-ca', 'event', 'authority-plan'],
  ['certs renew', 'event'],
  ['certs recover', 'event'],
  ['certs', 'certs'],
  ['backup verify', 'backup-contents'],
  ['backup', 'backup'],
  ['restore', 'event'],
  ['explain', 'explain'],
  ['etcd snapshot save', 'snapshot'],
  ['etcd snapshot restore', 'event'],
  ['etcd recover', 'event'],
  ['etcd defragment', 'defragment'],
  ['windows selftest', 'selftest'],
  ['report --list', 'runs'],
  ['report', 'report'],
  ...(['plan', 'check', 'status', 'facts', 'validate', 'unlock'] as const).map((name) => [name, name] as const),
  ['upgrade', 'event', 'upgrade-plan'],
  ['reboot', 'event', 'reboot-plan'],
  ['move-endpoint', 'event', 'move-endpoint-plan'],
  ...['up', 'remove', 'reset'].map((name) => [name, 'event'] as const),
];

/** Commands with `--json` whose output has no schema of its own. */
const WITHOUT = ['kubeconfig', 'schema'];

/** The document that a command line prints; undefined: it prints none. @throws Error for a command that is in neither list */
export function documentOf(args: readonly string[]): DocumentName | undefined {
  if (!args.includes('--json') && args[0] !== 'facts') return undefined;
  const line = `${args.join(' ')} `;
  if (WITHOUT.includes(args[0] ?? '')) return undefined;
  const [, name, planned] = BY_COMMAND.find(([command]) => line.startsWith(`${command} `)) ?? [];
  if (name === undefined) throw new Error(`which document does \`${args.join(' ')}\` print? Name it in BY_COMMAND`);
  if (name === 'status' && args.includes('--watch')) return 'status-watch';
  return planned !== undefined && args.includes('--plan') ? planned : name;
}

/** What is wrong with what a command printed on stdout: each event of a run, or its document. A line that was cut off counts for nothing. */
export function outputFaults(args: readonly string[], stdout: string): readonly string[] {
  const name = documentOf(args);
  if (name === undefined || stdout === '') return [];
  if (name !== 'event' && name !== 'status-watch') return faultsOf(name, JSON.parse(stdout));
  const lines = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line !== '').flatMap((line) => faultsOf(name, JSON.parse(line)));
}
