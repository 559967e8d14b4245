import { isObject } from '../shell/decode.ts';
import { nearest } from '../shell/text.ts';
import { fieldElsewhere, fieldNames, fieldOf, isStruct, valuesOf } from './tables.value.ts';

const UNITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, i) => [unit, 1024 ** (i + 1)])),
  ...Object.fromEntries(['k', 'M', 'G', 'T', 'P', 'E'].map((unit, i) => [unit, 1000 ** (i + 1)])),
  '': 1,
  m: 0.001,
};

/** The number that a quantity of Kubernetes stands for (`200Mi`, `0.5`, `500m`); undefined if it is none. */
export function quantityOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?(?:[eE]\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

/** Where a value stands in a document: names of fields and numbers of list items. */
type Keys = readonly (string | number)[];

/** What a program that reads a document would refuse or leave out. */
export interface Mismatch {
  readonly keys: Keys;
  readonly message: string;
}

/** Fields of older APIs, and where what they said is said now. Source: kubeadm-config.v1beta4. */
const MOVED: Readonly<Record<string, string>> = {
  'APIServer.timeoutForControlPlane': 'write kubeadm.init.timeouts.controlPlaneComponentHealthCheck',
  'DNS.type': 'remove it: CoreDNS is the only one',
  'ClusterConfiguration.useHyperKubeImage': 'remove it: there is no such image any more',
  'Discovery.timeout': 'write kubeadm.join.timeouts.discovery',
  'KubeProxyConfiguration.udpIdleTimeout': 'write conntrack.udpTimeout',
  'KubeletConfiguration.dynamicKubeletConfigDir': 'remove it: a kubelet has its configuration of its file alone',
};

/** A duration as Go's time.ParseDuration reads it. */
export const DURATION: RegExp = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** A quantity of Kubernetes: apimachinery's resource.ParseQuantity. */
const QUANTITY = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[kMGTPE]i?|m|u|n|[eE][-+]?\d+)?$/;

const BOUNDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
};

/** A value as one writes it in YAML's short form. */
const written = (value: unknown): string =>
  typeof value === 'string'
    ? /^[\w./-]+$/.test(value) && /[A-Za-z./]/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
      ? value
      : JSON.stringify(value)
    : JSON.stringify(value);

const MAX_SHOWN = 3;

/** The list that was meant where a mapping or a single value stands. */
function listForm(value: unknown, item: string, name: string | number): string {
  if (item === 'Arg' && isObject(value)) {
    const shown = Object.entries(value)
      .slice(0, MAX_SHOWN)
      .map(([flag, text]) => `{ name: ${flag.replace(/^-+/, '')}, value: ${JSON.stringify(String(text))} }`);
    const more = Object.keys(value).length > MAX_SHOWN ? ', …' : '';
    return `must be a list since kubeadm v1beta4: ${String(name)}: [${shown.join(', ')}${more}]`;
  }
  if (isObject(value) && isStruct(item)) return `must be a list: put "- " before its first setting`;
  if (typeof value === 'object') return `must be a list (lines that begin with "- ", or [a, b]), not ${kindOf(value)}`;
  return `must be a list: ${String(name)}: [${written(value)}]`;
}

/** The message for a value that is no scalar of this type; undefined if it is one. */
function scalarProblem(value: unknown, type: string): string | undefined {
  const text = typeof value === 'string' ? value : undefined;
  switch (type) {
    case 'text':
      if (text !== undefined) return undefined;
      return typeof value !== 'number' && typeof value !== 'boolean'
        ? `must be text, not ${kindOf(value)}`
        : `is ${kindOf(value)} to YAML, not text: quote it: ${JSON.stringify(String(value))}`;
    case 'bool':
      if (typeof value === 'boolean') return undefined;
      return text === 'true' || text === 'false'
        ? `must be true or false: remove the quotes: ${text}`
        : `must be true or false, not ${kindOf(value)}`;
    case 'duration':
    case 'nanoseconds':
      if (text !== undefined && DURATION.test(text)) return undefined;
      if (type === 'nanoseconds' && Number.isInteger(value)) return undefined;
      return typeof value === 'number'
        ? `must be a duration with its unit: ${String(value)}s`
        : 'must be a duration, e.g. 5m0s (units: h, m, s, ms)';
    case 'time':
      return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/.test(text)
        ? undefined
        : 'must be a time, e.g. "2030-01-02T15:04:05Z"';
    case 'quantity':
      return typeof value === 'number' || (text !== undefined && QUANTITY.test(text))
        ? undefined
        : 'must be a quantity of Kubernetes, e.g. 500m or 1Gi';
    case 'number':
      return typeof value === 'number' ? undefined : `must be a number, not ${kindOf(value)}`;
    default:
      return undefined;
  }
}

function wholeNumberProblem(value: unknown, [least, most]: readonly [number, number]): string | undefined {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return `must be a whole number: remove the quotes: ${value}`;
  if (typeof value !== 'number' || !Number.isInteger(value))
    return `must be a whole number, not ${typeof value === 'number' ? String(value) : kindOf(value)}`;
  return value < least || value > most ? `must be a whole number from ${String(least)} to ${String(most)}` : undefined;
}

/** The message for a field that the type has not. */
export function unknownField(type: string, name: string, minor: number): string {
  const known = fieldNames(type, minor);
  const cased = known.find((one) => one.toLowerCase() === name.toLowerCase());
  if (cased !== undefined) return `there is no such field; write ${cased}: case counts`;
  const moved = MOVED[`${type}.${name}`];
  const where = fieldElsewhere(type, name, minor);
  if (moved !== undefined || where !== undefined)
    return `there is no such field (${where ?? 'it has moved'}); ${moved ?? 'remove it'}`;
  const close = nearest(name, known);
  return `there is no such field${close === undefined ? '; remove it' : `; did you mean ${close}?`}`;
}

/**
 * What a strict reader of this minor refuses in a value of a type, each with its place below `keys`. A field without a
 * value is as good as none, as in Go. Names of enumerations are those of the tables.
 */
export function mismatches(value: unknown, type: string, minor: number, keys: Keys = []): readonly Mismatch[] {
  const wrong = (message: string | undefined): readonly Mismatch[] =>
    message === undefined ? [] : [{ keys, message }];
  if (value === null || value === undefined || type === 'any') return [];
  if (type.startsWith('[]')) {
    const item = type.slice(2);
    return Array.isArray(value)
      ? value.flatMap((one, i) => mismatches(one, item, minor, [...keys, i]))
      : wrong(listForm(value, item, keys.at(-1) ?? ''));
  }
  if (type.startsWith('{}'))
    return isObject(value)
      ? Object.entries(value).flatMap(([name, one]) => mismatches(one, type.slice(2), minor, [...keys, name]))
      : wrong(`must be a mapping (name: value), not ${kindOf(value)}`);
  if (isStruct(type)) {
    if (!isObject(value)) {
      const [first] = fieldNames(type, minor);
      return wrong(`must be a mapping of settings, e.g. of ${first!}, not ${kindOf(value)}`);
    }
    return Object.entries(value).flatMap(([name, one]) => {
      const field = fieldOf(type, name, minor);
      return field === undefined
        ? [{ keys: [...keys, name], message: unknownField(type, name, minor) }]
        : mismatches(one, field.type, minor, [...keys, name]);
    });
  }
  const bounds = BOUNDS[type];
  if (bounds !== undefined) return wrong(wholeNumberProblem(value, bounds));
  const values = valuesOf(type, minor);
  if (values === undefined) return wrong(scalarProblem(value, type));
  if (typeof value === 'string' && (value === '' || values.includes(value))) return [];
  return wrong(
    enumProblem(
      value,
      values.filter((one) => one !== ''),
    ),
  );
}

/** The message for a value that is none of the allowed ones. */
export function enumProblem(value: unknown, allowed: readonly string[]): string {
  const close = typeof value === 'string' ? nearest(value, allowed) : undefined;
  const shown = typeof value === 'string' ? `"${value}"` : kindOf(value);
  return `must be ${allowed.join(', ')}, not ${shown}${close === undefined ? '' : `; did you mean ${close}?`}`;
}
