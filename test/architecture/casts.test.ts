/** Words of hosts and of live objects go through the one decoder (`src/shell/decode.ts`): a cast believes what nobody has compared. */
import { expect, test } from 'vitest';
import { files as allFiles, textOf, withoutComments } from './source.ts';

/** Files whose code reads what hosts and the API send. */
const READS =
  /\.(?:facts|survey)\.ts$|^(?:backup|cluster\/fleet|ssh|etcd|network|session|upgrade|windows)\/|^kubeadm\/endpoint|^engine\/lock|^commands\/(?:api-|backup-file|kubeconfig|snapshots)/;

/** Files that cast something else than the words of a host. */
const ALLOWED: Readonly<Record<string, string>> = {
  'etcd/config.ts': 'settings of the inventory',
  'network/calico.file.ts': 'settings of the inventory',
  'ssh/ssh-config.ts': 'the error of a program that was run here',
  'ssh/ssh2.ts': 'a field of ssh2 that its types do not have',
  'ssh/windows-job.ts': 'the answers of its own scripts to its own questions',
  'upgrade/removed.value.ts': 'a table of kbuild itself',
  'upgrade/settings-places.ts': 'patches of the inventory',
};

/** A cast of what was parsed, or to a shape: `JSON.parse(…) as T`, `as { readonly … }`, `as unknown as T`. */
const CAST =
  /\bas (?:unknown as|readonly unknown\[\]|Partial<|Raw\w+|JsonObject\b|readonly \{|\{ readonly (?!status\?: unknown))|JSON\.parse\([^;]*?\)\)? as (?!unknown\b)/;

const files = allFiles.filter((file) => READS.test(file));

test('no word of a host is cast to what is expected of it', () => {
  expect(files.length).toBeGreaterThan(100);
  const casts = files
    .filter((file) => ALLOWED[file] === undefined)
    .flatMap((file) => {
      const cast = CAST.exec(withoutComments(textOf(file)));
      return cast === null ? [] : [`${file}: ${cast[0].slice(0, 80)}`];
    });
  expect(casts).toEqual([]);
});

test('the pattern of casts knows those that stood here', () => {
  for (const text of [
    'const { items } = JSON.parse(out) as { readonly items: readonly RawRequest[] };',
    '(itemsOf(out) as readonly unknown[] as readonly RawPod[])',
    'item as unknown as RawNode',
    'JSON.parse(await on.ask(hash)) as T',
    "object['metadata'] as { readonly name: string }",
  ])
    expect(CAST.test(text), text).toBe(true);
  for (const text of ['Object.keys(names) as readonly Name[]', 'JSON.parse(text) as unknown;', "['a'] as const"])
    expect(CAST.test(text), text).toBe(false);
});
