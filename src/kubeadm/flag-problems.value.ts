import { isObject } from '../shell/decode.ts';
import { nearest } from '../shell/text.ts';
import {
  admissionPlugins,
  type FlagComponent,
  flagsOf,
  flagType,
  gateOf,
  type GateSet,
  gatesOf,
} from './tables.value.ts';
import { DURATION, type Mismatch } from './typed.value.ts';

/** Gates that switch many others: every component has them. */
const ALL_GATES: ReadonlySet<string> = new Set(['AllAlpha', 'AllBeta']);

/** The name, for messages, of the program that does not start with an unknown gate. */
const READERS: Readonly<Record<GateSet, string>> = { kubernetes: 'Kubernetes', kubeadm: 'kubeadm', etcd: 'etcd' };

/** The message for a feature gate that this minor does not accept; undefined if it does. */
function gateProblem(set: GateSet, name: string, value: unknown, minor: number): string | undefined {
  if (set !== 'kubeadm' && ALL_GATES.has(name)) return undefined;
  const gate = gateOf(set, name, minor);
  if (gate === undefined) {
    const { names, elsewhere } = gatesOf(set, minor);
    const where = elsewhere(name);
    if (where !== undefined) return `${READERS[set]} 1.${minor} has no such feature gate (${where}); remove it`;
    const close = nearest(name, names);
    return (
      `${READERS[set]} 1.${minor} has no such feature ` +
      `gate${close === undefined ? '; remove it' : `; did you mean ${close}?`}`
    );
  }
  if (typeof value === 'boolean' && gate.isLocked && value !== gate.default)
    return `is ${String(gate.default)} in 1.${minor} and cannot be set to ${String(value)}; remove it`;
  return undefined;
}

/** Problems of the gates in a mapping. Does not report values other than true and false: the check of the type does. */
export const gateProblems = (gates: unknown, set: GateSet, minor: number): readonly Mismatch[] =>
  !isObject(gates)
    ? []
    : Object.entries(gates).flatMap(([name, value]) => {
        const message = gateProblem(set, name, value, minor);
        return message === undefined ? [] : [{ keys: [name], message }];
      });

/** Go's strconv.ParseBool. */
const BOOL = /^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/;
const INTEGER = /^[-+]?(?:0[xX][\dA-Fa-f_]+|0[bB][01_]+|0[oO]?[0-7_]+|\d[\d_]*)$/;
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** The form of a flag's value by its type, and the text for messages. kbuild does not check values of other types. */
const FORMS: Readonly<Record<string, readonly [form: RegExp, must: string]>> = {
  bool: [BOOL, 'true or false'],
  int: [INTEGER, 'a whole number'],
  number: [NUMBER, 'a number'],
  duration: [DURATION, 'a duration with its unit, e.g. 5m0s'],
};

/** Types of flags that may be repeated, each time with another value. */
const REPEATABLE: ReadonlySet<string> = new Set(['list', 'map', 'gates', 'other']);

/** True if the last of several arguments of this name is the only one that counts. */
export const isSingle = (component: FlagComponent, name: string, minor: number): boolean => {
  const type = flagType(component, name, minor);
  return type !== undefined && !REPEATABLE.has(type);
};

const gateSet = (component: FlagComponent): GateSet => (component === 'etcd' ? 'etcd' : 'kubernetes');

function gatesInFlag(component: FlagComponent, value: string, minor: number): string | undefined {
  for (const part of value.split(',').filter((one) => one !== '')) {
    const [name = '', on] = part.split('=').map((one) => one.trim());
    if (on === undefined || !BOOL.test(on)) return `${part}: must be NAME=true or NAME=false`;
    const message = gateProblem(gateSet(component), name, /^(?:1|t)/i.test(on), minor);
    if (message !== undefined) return `${name}: ${message}`;
  }
  return undefined;
}

function pluginsInFlag(value: string, minor: number): string | undefined {
  const { names, elsewhere } = admissionPlugins(minor);
  const unknown = value.split(',').find((name) => name !== '' && !names.includes(name));
  if (unknown === undefined) return undefined;
  const close = nearest(unknown, names);
  const where = elsewhere(unknown);
  const hint = where === undefined ? (close === undefined ? '' : `; did you mean ${close}?`) : ` (${where})`;
  return `${unknown}: kube-apiserver 1.${minor} has no such admission plugin${hint}`;
}

/** The message for a flag that a component of this minor does not have; undefined if it has the flag. */
export function flagProblem(component: FlagComponent, name: string, minor: number): string | undefined {
  const bare = name.replace(/^-+/, '');
  if (bare !== name) return `must be the name of the flag without leading dashes: ${bare}`;
  const flag = name.replaceAll('_', '-');
  if (flagType(component, flag, minor) !== undefined) return undefined;
  if (name.includes('=')) return `must be the name alone: ${bare.split('=')[0]!}; the rest is its value`;
  const { names, elsewhere } = flagsOf(component, minor);
  const where = elsewhere(flag);
  if (where !== undefined) return `${component} 1.${minor} has no flag --${flag} (${where}); remove it`;
  const close = nearest(flag, names);
  return (
    `${component} 1.${minor} has no flag ` +
    `--${flag}${close === undefined ? '; remove it' : `; did you mean ${close}?`}`
  );
}

/**
 * The message for a value that a flag does not accept; undefined if it accepts the value, or if kbuild does not know.
 */
export function flagValueProblem(
  component: FlagComponent,
  name: string,
  value: string,
  minor: number,
): string | undefined {
  const flag = name.replaceAll('_', '-');
  if (flag === 'feature-gates') return gatesInFlag(component, value, minor);
  if (component === 'kube-apiserver' && /^(?:enable|disable)-admission-plugins$/.test(flag))
    return pluginsInFlag(value, minor);
  const [form, must] = FORMS[flagType(component, flag, minor) ?? ''] ?? [];
  return form === undefined || form.test(value) ? undefined : `--${flag} takes ${must!}, not "${value}"`;
}
