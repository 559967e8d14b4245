import type { z } from 'zod';
import { nearest } from '../../shell/text.ts';
import { PROPOSED_KUBERNETES } from '../../versions.ts';
import type { Located } from './document.ts';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list (lines that begin with "- ", or [a, b])',
  object: 'a mapping of settings (name: value)',
  record: 'a mapping (name: value)',
};

const expectation = (expected: string): string => EXPECTED[expected] ?? expected;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
}

/** What most inventories have under a name that is required. */
const EXAMPLES: Readonly<Record<string, string>> = {
  address: 'address: 10.0.0.21',
  hosts: '- { name: cp1, address: 10.0.0.11, role: control-plane }',
  kubernetes: `kubernetes: { version: "${PROPOSED_KUBERNETES}" }`,
  name: 'name: prod',
  source: 'source: https://example.com/objects.yaml',
  version: `version: "${PROPOSED_KUBERNETES}"`,
};

function exampleOf(path: readonly PropertyKey[] | undefined): string {
  const name = String(path?.at(-1) ?? '');
  const example = name === 'name' && path!.length > 1 ? 'name: w1' : EXAMPLES[name];
  return example === undefined ? '' : `, e.g. ${example}`;
}

/** A mapping or a list where people write text, or a mapping; those of a list by the name of the list. */
const FORMS: Readonly<Record<string, string>> = {
  etcd: '{ topology: external }',
  extraArgs: '[{ name: max-pods, value: "200" }]',
  hosts: '{ name: cp1, address: 10.0.0.11, role: control-plane }',
  kubernetes: `{ version: "${PROPOSED_KUBERNETES}" }`,
  labels: '{ disk: ssd }',
  loadBalancer: '{ kind: keepalived, address: 10.0.0.100 }',
  network: '{ plugin: NAME }',
  proxy: '{ http: http://proxy.example.com:3128 }',
  runtime: '{ name: NAME }',
  ssh: '{ user: admin }',
  taints: '{ key: gpu, value: "true", effect: NoSchedule }',
};

/** The message for a value of the wrong type. */
function typeMessage(expected: string, found: Located): string {
  const { value, source } = found;
  if (value === null) return `has no value; it must be ${expectation(expected)}`;
  const name = String(found.path.at(-1));
  if (expected === 'string' && name === 'version' && /^\d+(?:\.\d+)?$/.test(source ?? '')) {
    const example = found.path[0] === 'kubernetes' ? `: e.g. "${PROPOSED_KUBERNETES}"` : '';
    return `must be an exact version of three numbers, in quotes${example}`;
  }
  if (expected === 'string' && typeof value === 'number' && name.endsWith('Timeout'))
    return `needs a unit, e.g. "${String(value)}m" for minutes`;
  if (expected === 'string' && Array.isArray(value) && name.endsWith('Subnet'))
    return 'must be text, not a list: both families stand in one text, with a comma between them';
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `is a ${typeof value} to YAML, not text: quote it: "${source ?? String(value)}"`;
  if ((expected === 'number' || expected === 'int') && typeof value === 'string' && /^\d+$/.test(value))
    return `must be ${expectation(expected)}: remove the quotes`;
  const form = ['object', 'record', 'array'].includes(expected)
    ? FORMS[String(found.path.findLast((part) => typeof part === 'string'))]
    : undefined;
  return `must be ${expectation(expected)}, not ${kindOf(value)}${
    form === undefined ? '' : `: e.g. ${expected === 'array' && form.startsWith('{') ? `- ${form}` : form}`
  }`;
}

/** What other tools call a value. */
const CALLED: Readonly<Record<string, string>> = {
  agent: 'worker',
  control: 'control-plane',
  controller: 'control-plane',
  controlplane: 'control-plane',
  haproxy: 'load-balancer',
  loadbalancer: 'load-balancer',
  master: 'control-plane',
  node: 'worker',
  server: 'control-plane',
};

function choiceMessage(values: readonly unknown[], value: unknown): string {
  const choices = values.map(String);
  if (Array.isArray(value)) return `must be one of ${choices.join(', ')}, and not a list`;
  const called = typeof value === 'string' ? CALLED[value.toLowerCase()] : undefined;
  if (called !== undefined && choices.includes(called))
    return `${JSON.stringify(value)} is called ${called} here; must be one of ${choices.join(', ')}`;
  const meant = typeof value === 'string' ? nearest(value, choices) : undefined;
  const list = choices.length === 1 ? `must be ${choices[0]!}` : `must be one of ${choices.join(', ')}`;
  return meant === undefined ? list : `${list}; did you mean "${meant}"?`;
}

/**
 * The message of an issue of the schema; undefined leaves it to the format's own. `found` is missing when nothing is
 * there.
 */
export function issueMessage(issue: RawIssue, found: Located | undefined): string | undefined {
  // The formats have messages of their own for the other codes.
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check
  switch (issue.code) {
    case 'invalid_type':
      return found === undefined
        ? `is required: ${expectation(issue.expected)}${exampleOf(issue.path)}`
        : typeMessage(issue.expected, found);
    case 'invalid_value':
      return found === undefined
        ? `is required: one of ${issue.values.join(', ')}`
        : choiceMessage(issue.values, found.value);
    case 'too_small':
      return issue.origin === 'array' ? 'needs at least one entry' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${issue.maximum} characters long`
        : `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

/** Of a value that may have several forms: the issue of the form that was tried. */
export function triedForm(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const forms = issue.errors.filter((errors) => !errors.some((e) => e.code === 'invalid_type' && e.path.length === 0));
  // A form with a setting that it does not have lacks another: the wrong name explains both.
  const inner = forms[0]?.find(({ code }) => code === 'unrecognized_keys') ?? forms[0]?.[0];
  const isNumeric = issue.errors.some((errors) =>
    errors.some((e) => e.code === 'invalid_type' && (e.expected === 'number' || e.expected === 'int')),
  );
  if (inner === undefined)
    return { ...issue, message: isNumeric ? 'must be text or a whole number' : 'must be text or a list of texts' };
  return triedForm({ ...inner, path: [...issue.path, ...inner.path] });
}
