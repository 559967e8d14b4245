import { UsageError } from '../errors.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { inventorySettings, settingAt, withInner } from '../inventory/file/settings.ts';
import { refusals } from '../refusals/refusals.ts';
import { fieldExplained } from '../report/explain-field.ts';
import {
  checkExplained,
  exitExplained,
  type Explanation,
  explanationText,
  firstSentence,
  refusalExplained,
  settingExplained,
  type Topics,
  topicsText,
} from '../report/explain.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { nearest } from '../shell/text.ts';
import { checks } from './every.checks.ts';
import type { ExplainOptions } from './inventory.command.ts';

const settingTopics = (): Topics => ({
  title: 'settings of the inventory: kbuild explain SETTING',
  items: [...inventorySettings().inside].map(([name, { meaning }]) => ({ name, summary: firstSentence(meaning) })),
});

const checkTopics = (): Topics => ({
  title: 'checks: kbuild explain check NAME',
  items: checks.map(({ name, title }) => ({ name, summary: firstSentence(title) })),
});

const refusalTopics = (): Topics => ({
  title: 'refusals (exit 7): kbuild explain refusal NAME',
  items: refusals.map(({ name, title }) => ({ name, summary: firstSentence(title) })),
});

const exitTopics = (): Topics => ({
  title: 'exit codes: kbuild explain exit CODE',
  items: EXIT_CODES.map(({ code, title }) => ({ name: String(code), summary: firstSentence(title) })),
});

function unknown(what: string, name: string, known: readonly string[], list: string): UsageError {
  const close = nearest(name, known);
  return new UsageError(`"${name}" is no ${what}${close === undefined ? '' : `; did you mean "${close}"?`}`, {
    remedy: `\`kbuild explain${list}\` lists them`,
  });
}

function checkNamed(name: string): Explanation {
  const check = checks.find((one) => one.name === name);
  if (check !== undefined) return checkExplained(check);
  const names = checks.map((one) => one.name);
  throw unknown('check', name, names, ' check');
}

function refusalNamed(name: string): Explanation {
  const refusal = refusals.find((one) => one.name === name);
  if (refusal !== undefined) return refusalExplained(refusal);
  const names = refusals.map((one) => one.name);
  throw unknown('refusal', name, names, ' refusal');
}

function exitNamed(name: string): Explanation {
  const page = EXIT_CODES.find(({ code }) => String(code) === name);
  if (page !== undefined) return exitExplained(page);
  const codes = EXIT_CODES.map(({ code }) => String(code));
  throw unknown('exit code of kbuild', name, codes, ' exit');
}

/** A field of an override; a setting; a check, a refusal or an exit code where no setting has that name. */
function anyNamed(name: string): Explanation {
  const field = fieldExplained(name);
  if (typeof field === 'string')
    throw new UsageError(field, { remedy: `\`kbuild explain ${name.replace(/\.[^.]*$/, '')}\` shows what there is` });
  if (field !== undefined) return field;
  const root = inventorySettings();
  const setting = name === '' ? undefined : settingAt(root, name);
  if (setting !== undefined && setting !== root) return settingExplained(setting);
  if (checks.some((one) => one.name === name)) return checkNamed(name);
  if (refusals.some((one) => one.name === name)) return refusalNamed(name);
  if (EXIT_CODES.some(({ code }) => String(code) === name)) return exitNamed(name);
  const paths = withInner(root).map(({ path }) => path);
  const plain = name.replaceAll(/\[\d*\]/g, '[]');
  // `podSubnet`, or what people call it.
  const word = name.toLowerCase();
  const meant = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  const leaves = meant === undefined ? paths.filter((path) => path.endsWith(`.${plain}`)) : [meant];
  const close = nearest(plain, [...paths, ...[...checks, ...refusals].map((one) => one.name)]);
  if (leaves.length > 0)
    throw new UsageError(`"${name}" is no whole name of a setting`, {
      remedy: leaves
        .slice(0, MOST_LEAVES)
        .map((path) => `kbuild explain ${path}`)
        .join(', or '),
    });
  throw unknown('setting of the inventory, check, refusal or exit code', name, close === undefined ? [] : [close], '');
}

/** How many settings of the same last name are shown. */
const MOST_LEAVES = 4;

/** What people call a setting. */
const WORDS: Readonly<Record<string, string>> = {
  cni: 'network.plugin',
  cri: 'runtime.name',
  etcd: 'etcd',
  pods: 'network.podSubnet',
  services: 'network.serviceSubnet',
  upgrade: 'kubernetes.version',
  vip: 'loadBalancer.address',
};

/** Kinds that a name can follow: how one is explained, and the list of all. */
const KINDS: Readonly<Record<string, readonly [named: (name: string) => Explanation, list: () => Topics]>> = {
  check: [checkNamed, checkTopics],
  refusal: [refusalNamed, refusalTopics],
  exit: [exitNamed, exitTopics],
};

function asked([first, second, ...rest]: readonly string[]): Explanation | readonly Topics[] {
  if (first === undefined) return [settingTopics(), ...Object.values(KINDS).map(([, list]) => list())];
  const kind = Object.hasOwn(KINDS, first) ? KINDS[first] : undefined;
  if (rest.length > 0 || (kind === undefined && second !== undefined))
    throw new UsageError('kbuild explains one thing at a time', {
      remedy: `kbuild explain [${Object.keys(KINDS).join('|')}] NAME`,
    });
  if (kind === undefined) return anyNamed(first);
  const [named, list] = kind;
  return second === undefined ? [list()] : named(second);
}

/** What one types after an explanation. */
function nextOf(found: Explanation | readonly Topics[]): string {
  if (!('kind' in found)) return `kbuild explain ${found[0]?.items[0]?.name ?? ''}`;
  const [inner] = found.inside ?? [];
  switch (found.kind) {
    case 'setting':
      if (inner === undefined) return 'kbuild validate';
      return `kbuild explain ${`${found.name}.${inner.name}`.replaceAll('[]', '')}`;
    case 'check':
      return 'kbuild check';
    case 'refusal':
      return 'kbuild plan';
    case 'exit':
      return 'kbuild report';
  }
}

/**
 * `kbuild explain [TOPIC]`: what a setting, a check, a refusal or an exit code is, from the schema, the checks and the
 * tables of refusals and exit codes. Reads no inventory and contacts no host. @throws UsageError for an unknown name,
 * with the nearest one
 */
export function runExplain(context: Context, flags: ExplainOptions, operands: readonly string[]): Promise<number> {
  const found = asked(operands);
  if ('kind' in found)
    context.out(
      flags.json === true ? jsonDocument<'explain'>(found) : explanationText(found, context.display?.columns),
    );
  else context.out(flags.json === true ? jsonDocument<'topics'>({ topics: found }) : topicsText(found));
  if (flags.json !== true) context.err(`next: ${nextOf(found)}\n`);
  return Promise.resolve(0);
}
