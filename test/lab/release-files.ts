/** Files of a release, how a person installs each on a host of its system, and what the hosts of the lab need beside them. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lab from './lab.ts';
import { run } from './run.ts';
import type { System } from './systems.ts';

/** One kind of file, and the commands that install it in the folder where it lies. */
export interface ReleaseFile {
  readonly title: string;
  readonly host: string;
  readonly os: System;
  readonly file: RegExp;
  /** Files of `aside` that are there too: what a system would fetch from its own repositories. */
  readonly beside: readonly RegExp[];
  readonly install: string;
}

/** The one library that Node 26 is linked with and a bare system lacks. */
const LIBATOMIC_DEB = /^libatomic1_.*\.deb$/;
const NODE = /^node\.tar$/;

/** Each kind, for amd64: the hosts of other processors and systems are not in the lab. */
export const RELEASE_FILES: readonly ReleaseFile[] = [
  {
    ...{ title: 'the executable on Debian', host: 'relexe', os: 'bookworm', file: /^kbuild-linux-x64$/ },
    beside: [LIBATOMIC_DEB],
    install: 'dpkg -i ./libatomic1_*.deb && install -m 755 kbuild-linux-x64 /usr/local/bin/kbuild',
  },
  {
    ...{ title: 'the npm package on Debian', host: 'relnpm', os: 'bookworm', file: /-npm\.tgz$/ },
    beside: [NODE],
    install: 'tar -xf node.tar -C /usr/local && npm install -g ./kbuild-*-npm.tgz',
  },
  {
    ...{ title: 'the .deb on Ubuntu 24.04', host: 'relubuntu', os: 'noble', file: /_amd64\.deb$/ },
    beside: [LIBATOMIC_DEB],
    install: 'apt install -y ./libatomic1_*.deb ./kbuild-cluster_*.deb',
  },
  {
    ...{ title: 'the rpm by dnf on Rocky 9', host: 'relrocky', os: 'rocky9', file: /\.x86_64\.rpm$/ },
    beside: [/^libatomic-\d.*\.rpm$/],
    install: "dnf install -y --disablerepo='*' ./libatomic-*.rpm ./kbuild-cluster-*.rpm",
  },
  {
    ...{ title: 'the rpm by zypper on Leap 16', host: 'relleap', os: 'leap16', file: /\.x86_64\.rpm$/ },
    beside: [/^libatomic1-\d.*\.rpm$/],
    // 106: installed, but a repository was left out, for want of a network (man zypper, INF_REPOS_SKIPPED).
    install:
      'zypper --non-interactive --no-refresh install --allow-unsigned-rpm ./libatomic1-*.rpm ./kbuild-cluster-*.rpm || [ $? = 106 ]',
  },
];

/** The file of a folder whose name has this form. @throws Error where there is none, or another one too */
export function fileOf(folder: string, form: RegExp): string {
  const found = readdirSync(folder).filter((name) => form.test(name));
  if (found.length !== 1) throw new Error(`${folder}: ${String(form)} is ${found.join(', ') || 'not there'}`);
  return join(folder, found[0]!);
}

/** Copies a file to a host, below /tmp, where every user of it may write. */
export async function copied(host: string, from: string, to: string): Promise<void> {
  const all = lab.sshArguments(host);
  await run('scp', ['-q', ...all.slice(0, -1), from, `${all.at(-1)!}:${to}`]);
}

/** An rpm of the library in Debian's package, under the name that a system has for it; rpm finds what it provides. */
async function libraryRpm(aside: string, name: string): Promise<void> {
  const work = join(aside, `of-${name}`);
  const root = join(work, 'root');
  mkdirSync(join(root, 'usr'), { recursive: true });
  await run('sh', ['-c', 'dpkg-deb -x "$0" "$1/deb"', fileOf(aside, LIBATOMIC_DEB), work]);
  await run('cp', ['-a', join(work, 'deb/usr/lib'), join(root, 'usr')]);
  writeFileSync(
    join(work, 'library.spec'),
    [
      ...['Name: NAME', 'Version: 12.2.0', 'Release: 1', 'Summary: GCC library of atomic operations', 'License: GPL'],
      ...['%global _build_id_links none', '%global __os_install_post %{nil}', '%description', 'Of the lab.'],
      ...['%install', `cp -a '${root}/.' %{buildroot}`, '%files', '/usr/lib/x86_64-linux-gnu/*', ''],
    ]
      .join('\n')
      .replace('NAME', name),
  );
  await run('rpmbuild', ['-bb', '--quiet', '--target', 'x86_64', '-D', `_topdir ${work}/top`, `${work}/library.spec`]);
  await run('cp', [join(work, `top/RPMS/x86_64/${name}-12.2.0-1.x86_64.rpm`), aside]);
}

/** Puts into a folder what systems would fetch: the library as .deb and as rpm under both names, and this machine's Node with npm. */
export async function makeAside(aside: string): Promise<void> {
  await run('sh', ['-c', 'cd "$0" && apt-get download -q libatomic1', aside]);
  for (const name of ['libatomic', 'libatomic1']) await libraryRpm(aside, name);
  const prefix = join((await run('npm', ['root', '--global'])).trim(), '../..');
  await run('tar', ['-C', prefix, '-cf', join(aside, 'node.tar'), 'bin/node', 'bin/npm', 'lib/node_modules/npm']);
}
