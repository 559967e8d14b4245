import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** Who may import what, from the bottom up; names on one line are peers and do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['exit-codes.ts'],
  ['each-limit.ts', 'until.ts', 'errors.ts', 'own-version.ts', 'paths.ts', 'versions.ts', 'shell'],
  ['model', 'templates.ts'],
  ['components'],
  ['topology', 'backup'],
  ['inventory'],
  ['transport'],
  ['remote'],
  ['surveys'],
  ['facts'],
  ['configuration'],
  ['cluster'],
  ['engine'],
  ['resources'],
  ['checks', 'node', 'runtime', 'lb', 'etcd', 'kubeadm', 'network', 'windows'],
  ['upgrade'],
  ['phases', 'report'],
  ['cli'],
  ['library.ts'],
];

/** Files, or what the names of files begin with. */
const PACKAGE_HOME: Readonly<Record<string, string>> = {
  ssh2: 'transport/ssh',
  handlebars: 'templates.ts',
  diff: 'resources/text-diff.ts',
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, specifier]) => ({
    from,
    to: specifier!.startsWith('.') ? relative(src, resolve(dirname(join(src, from)), specifier!)) : specifier!,
  }));
});

const unitOf = (file: string): string => file.split('/')[0]!;
const layerOf = (file: string): number => LAYERS.findIndex((layer) => layer.includes(unitOf(file)));
const isOwn = ({ to }: Import): boolean => to.endsWith('.ts');

/** A file and all files that it imports, directly or not. */
function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  for (const next of reached)
    for (const { from, to } of imports) if (from === next && isOwn({ from, to })) reached.add(to);
  return reached;
}

/** The names that a file imports from another one. */
const namesFrom = (file: string, from: string): readonly string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/import (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(
    ([, names = '', specifier = '']) =>
      relative(src, resolve(dirname(join(src, file)), specifier)) === from
        ? names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => name !== '')
        : [],
  );

describe('the house', () => {
  test('every file belongs to a layer', () => {
    expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  test('imports point down, never up or sideways', () => {
    const wrong = imports
      .filter(isOwn)
      .filter(({ from, to }) => unitOf(from) !== unitOf(to) && layerOf(to) >= layerOf(from))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  test('a package with hazards has one home', () => {
    const strays = imports.filter(({ from, to }) => !from.startsWith(PACKAGE_HOME[to] ?? from));
    expect(strays.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('zod is imported as a namespace: its object z would bring the whole library into every command', () => {
    const whole = /^import (?!type )\{[^}]*\bz\b[^}]*\} from 'zod'/m;
    expect(files.filter((file) => whole.test(readFileSync(join(src, file), 'utf8')))).toEqual([]);
  });

  test('only the command line and the library touch the process', () => {
    const wrong = files.filter(
      (file) =>
        !['cli', 'library.ts'].includes(unitOf(file)) &&
        /\b(?:process\.|console\.)/.test(withoutComments(readFileSync(join(src, file), 'utf8'))),
    );
    expect(wrong).toEqual([]);
  });

  test('what a run writes is masked: only the kubeconfig that was asked for is not', () => {
    const past = files.filter((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      return text.includes(' withRun(') && /\bouter\.(?:out|err)\(|withRun\(context/.test(text);
    });
    expect(past).toEqual(['cli/kubeconfig.ts']);
  });

  test('commands that only read cannot take a lock, by anything that they import', () => {
    const taking = ['cli/session/locks.ts', 'cli/session/carry-out.ts', 'engine/lease.ts', 'engine/converge.ts'];
    for (const name of ['check', 'facts', 'kubeconfig', 'plan', 'status', 'validate']) {
      const reached = reachedFrom(`cli/${name}.ts`);
      expect(reached.size, name).toBeGreaterThan(10);
      expect(
        taking.filter((file) => reached.has(file)),
        name,
      ).toEqual([]);
      // A survey refuses hosts that another run holds.
      const fromLock = [...reached].flatMap((file) => namesFrom(file, 'engine/lock.ts'));
      expect(new Set([...fromLock, 'refuseLocked']), name).toEqual(new Set(['refuseLocked']));
    }
  });

  test('completion cannot connect, and cannot run a command of an inventory', () => {
    // The list of commands loads their code only when they run.
    const list = 'cli/commands/index.ts';
    const loaded = new Set(['cli/completion/run-complete.ts']);
    for (const next of loaded)
      for (const { from, to } of imports)
        if (from === next && isOwn({ from, to }) && !(from === list && !to.startsWith('cli/command'))) loaded.add(to);
    expect(loaded.size).toBeGreaterThan(50);
    expect(loaded).not.toContain('inventory/sources.ts');
    // The checks name the type of what runs a command on a host.
    expect([...loaded].filter((file) => ['transport', 'remote'].includes(unitOf(file)))).toEqual(['remote/remote.ts']);
    // isIP and the like are no connection.
    const asksForAddresses = /import \{ (?:isIP(?:v[46])?(?:, )?)+ \} from 'node:net'/;
    const outside = imports
      .filter(({ from, to }) => loaded.has(from) && /^(?:node:)?(?:child_process|net|tls|https?)$|^ssh2$/.test(to))
      .filter(({ from, to }) => to !== 'node:net' || !asksForAddresses.test(readFileSync(join(src, from), 'utf8')));
    expect(outside).toEqual([]);
  });

  test('commands take locks through the session alone', () => {
    const importers = (to: string): readonly string[] =>
      imports.filter((one) => one.to === to && unitOf(one.from) === 'cli').map(({ from }) => from);
    expect(importers('engine/lock.ts').toSorted()).toEqual([
      'cli/session/carry-out.ts',
      'cli/session/locks.ts',
      'cli/session/survey.ts',
      'cli/unlock.ts',
    ]);
    expect(namesFrom('cli/session/carry-out.ts', 'engine/lock.ts')).toEqual(['Lock']);
    expect(importers('engine/lease.ts').toSorted()).toEqual(['cli/session/locks.ts', 'cli/unlock.ts']);
    expect(importers('engine/converge.ts')).toEqual(['cli/session/carry-out.ts']);
    expect(importers('cli/session/carry-out.ts').toSorted()).toEqual(
      [
        'authority-run',
        'certs-renew',
        'etcd-recover',
        'move-endpoint',
        'reboot',
        'remove',
        'reset',
        'restore-backup',
        'restore',
        'up',
        'upgrade',
      ].map((name) => `cli/${name}.ts`),
    );
  });

  test('files do not import each other in a circle, types included', () => {
    const left = new Map(files.map((file) => [file, new Set(imports.filter(({ from, to }) => from === file && files.includes(to)).map(({ to }) => to))])); // prettier-ignore
    // A file that imports no file of the rest is in no circle, and neither is one that the rest does not import.
    for (let before = -1; before !== left.size;) {
      before = left.size;
      const imported = new Set([...left.values()].flatMap((to) => [...to]));
      for (const [file, to] of [...left])
        if (!imported.has(file) || ![...to].some((name) => left.has(name))) left.delete(file);
    }
    expect([...left.keys()]).toEqual([]);
  });

  test('secrets are revealed only where they are sent, stored, masked or parsed', () => {
    const homes = files.filter((file) => /\brevealed\(/.test(withoutComments(readFileSync(join(src, file), 'utf8'))));
    expect(homes.toSorted()).toEqual(
      [
        // Transports and jobs.
        'transport/ssh-keys.ts',
        'transport/ssh-seed.ts',
        'remote/files.ts',
        'remote/job.ts',
        'remote/privilege.ts',
        'remote/windows/files.ts',
        'remote/windows/job.ts',
        'shell/powershell.ts',
        'cli/session/send-spans.ts',
        'configuration/secret-yaml.ts',
        // Defined, and parsed into other secrets.
        'shell/secret.ts',
        'shell/key-pair.ts',
        'configuration/join-token.ts',
        'configuration/kubeconfig.ts',
        'configuration/merged-kubeconfig.ts',
        'configuration/shared-certificates.ts',
        'backup/encryption.ts',
        'backup/encryption-keys.ts',
        'backup/read.ts',
        // Masked in outputs.
        'report/mask.ts',
        // The kubeconfig that an operator asks for.
        'cli/kubeconfig.ts',
        'cli/kubeconfig-file.ts',
      ].toSorted(),
    );
  });

  test('names of files are kebab-case, and no file is long', () => {
    expect(files.filter((file) => !/^(?:[a-z0-9-]+\/)*[a-z0-9-]+\.ts$/.test(file))).toEqual([]);
    const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 250);
    expect(long).toEqual([]);
  });

  test('there are no default exports and no enums', () => {
    const wrong = files.filter((file) =>
      /^export (?:default|(?:const )?enum)\b/m.test(readFileSync(join(src, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('every export says what it promises', () => {
    const bare = files.flatMap((file) => {
      const lines = readFileSync(join(src, file), 'utf8').split('\n');
      return lines.flatMap((line, index) =>
        /^export (?:async )?(?:function|class|abstract class)\b/.test(line) && !/\*\/\s*$/.test(lines[index - 1] ?? '')
          ? [`${file}:${String(index + 1)}`]
          : [],
      );
    });
    expect(bare).toEqual([]);
  });
});

/** Components that are values: nothing else asks which of them it is. */
const COMPONENTS: readonly {
  readonly kind: string;
  readonly names: RegExp;
  /** Lists, the schema, and the settings of each. */
  readonly lists: RegExp;
}[] = [
  {
    kind: 'network plugins',
    names: /flannel|calico|cilium|tigera/i,
    lists:
      /(?:^|\/)network(?:-plugins)?\/index\.ts$|^model\/network-plugins\.ts$|^inventory\/(?:schema|network-plugins)\/|^windows\/signatures\.ts$/,
  },
  {
    kind: 'container runtimes',
    names: /containerd|\bcri-?o\b|cri-?docker|dockerd\b|docker-[ce]e\b|'docker'|Docker Engine/i,
    // Windows hosts have a runtime in files of their own, one distribution has it in its image, and two pack it themselves; the kubelet had flags named after one.
    lists:
      /^components\/(?:runtimes\/|distributions\/(?:amazon|flatcar|suse)\.ts$)|^runtime\/(?:crio|docker|index)\.ts$|windows|^(?:model\/inventory|inventory\/schema\/(?:software|downloads|repositories)|upgrade\/removed-data)\.ts$/,
  },
  {
    kind: 'distributions and package managers',
    names:
      /\b(?:apt(?:-get)?|dpkg|dnf5?|rpm|debian|ubuntu|rhel|rocky|almalinux|red hat|fedora|amazon linux|suse|sles|zypper)\b|pkgs\.k8s/i,
    // The schema has default repositories, each with a key for packages of either format; signatures are messages of package managers.
    lists:
      /^components\/distributions\/|^model\/inventory\.ts$|^inventory\/(?:schema\/|signing-keys\.ts$)|^report\/signatures\/packages\.ts$/,
  },
];

/**
 * Without the names of steps, which scripts and users rely on, e.g. on `apt-proxy`, and without the paths of Windows hosts,
 * which stand beside those of Linux hosts.
 */
const withoutFixedNames = (text: string): string =>
  text
    .replaceAll(/^ *name: '[a-z-]+',$/gm, '')
    // The inventory's setting for packages of this format.
    .replaceAll(/\.rpm\b|'rpm'|\brpm\b(?=:| })|\/rpm'/g, '')
    .replace(/^export const windowsPaths[\s\S]*?^}/m, '');

describe('components', () => {
  test.each(COMPONENTS)('names of $kind stand in their own files, the lists and the schema', ({ names, lists }) => {
    const wrong = files.filter(
      (file) =>
        !names.test(file) && !lists.test(file) && names.test(withoutFixedNames(readFileSync(join(src, file), 'utf8'))),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    [
      'network plugin',
      /cilium/i,
      [
        'components/network-plugins/cilium.ts',
        'components/network-plugins/index.ts',
        'inventory/network-plugins/index.ts',
        'inventory/schema/software.ts',
        'model/network-plugins.ts',
      ],
    ],
    [
      'container runtime',
      /crio\b/i,
      [
        'components/runtimes/crio.ts',
        'components/runtimes/index.ts',
        'inventory/schema/software.ts',
        'model/inventory.ts',
        'runtime/crio.ts',
        'runtime/index.ts',
      ],
    ],
    [
      'container runtime with a program that is downloaded, and systems without packages of it',
      /cri-?docker|docker-ce|\.\/docker\.ts|runtimes\/docker\.ts|lacks: \['docker'\]/i,
      [
        'components/distributions/amazon.ts',
        'components/distributions/suse.ts',
        'components/runtimes/docker.ts',
        'components/runtimes/index.ts',
        'inventory/schema/downloads.ts',
        'inventory/schema/software.ts',
        'model/inventory.ts',
        'runtime/docker.ts',
        'runtime/index.ts',
      ],
    ],
    [
      'family of distributions',
      /rhel|rocky|almalinux|\bdnf\b/i,
      [
        'components/distributions/amazon.ts',
        'components/distributions/dnf.ts',
        'components/distributions/fedora.ts',
        'components/distributions/index.ts',
        'components/distributions/rhel.ts',
        'report/signatures/packages.ts',
      ],
    ],
    [
      'second family with the same format of packages',
      /\b(?:suse|zypper|sles)\b/i,
      [
        'components/distributions/index.ts',
        'components/distributions/suse.ts',
        'components/distributions/zypper.ts',
        'report/signatures/packages.ts',
      ],
    ],
  ])('a %s costs its own files, the lists and its settings, as docs/contributing.md counts', (_, name, places) => {
    const named = files.filter((file) => name.test(readFileSync(join(src, file), 'utf8')));
    expect(named.toSorted()).toEqual(places);
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
