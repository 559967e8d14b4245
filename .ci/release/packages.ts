import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

/** What both kinds of packages say of themselves. */
export interface Described {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly homepage: string;
  readonly license: string;
}

/** Seconds since 1970 that all files of a package have. */
export interface Reproducible {
  readonly epoch: number;
}

/** What becomes a package, and where: `stage` is a folder of this package alone. */
interface Packed extends Reproducible {
  readonly arch: string;
  readonly executable: string;
  readonly out: string;
  readonly stage: string;
}

/** Debian has a package "kbuild" of another project: a build tool, with the folder of documentation of that name. */
const packageName = ({ name }: Pick<Described, 'name'>): string => `${name}-cluster`;

/** Puts the program, its manual and its licenses below `stage`, as both kinds of packages install them. */
function install(root: string, executable: string, stage: string, name: string): void {
  const doc = join(stage, `usr/share/doc/${packageName({ name })}`);
  for (const folder of ['usr/bin', 'usr/share/man/man1', relative(stage, doc)])
    mkdirSync(join(stage, folder), { recursive: true });
  copyFileSync(executable, join(stage, 'usr/bin', name));
  for (const page of readdirSync(join(root, 'docs/man')))
    writeFileSync(
      join(stage, 'usr/share/man/man1', `${page}.gz`),
      // No time and no name in it.
      gzipSync(readFileSync(join(root, 'docs/man', page)), { level: 9 }),
    );
  cpSync(join(root, 'dist/LICENSES'), join(doc, 'LICENSES'));
  cpSync(join(root, 'LICENSE'), join(doc, 'copyright'));
}

/** Disk space of the files below a folder, in KiB, whatever the blocks of its file system are. */
const sizeKib = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + Math.ceil(statSync(join(parentPath, name)).size / 1024), 0);

/** The control file of a Debian package whose files take so much disk space. */
export const debControl = (
  { name, version, description, homepage }: Described,
  arch: string,
  installedKib: number,
): string =>
  [
    `Package: ${packageName({ name })}`,
    `Version: ${version}`,
    `Architecture: ${arch}`,
    `Installed-Size: ${String(installedKib)}`,
    `Maintainer: The kbuild authors <noreply@example.com>`,
    'Section: admin',
    'Priority: optional',
    // Node 26 is linked with them; a bare Debian has no libatomic1 (seen in the lab).
    'Depends: libc6 (>= 2.28), libstdc++6, libatomic1',
    'Recommends: openssh-client',
    `Homepage: ${homepage}`,
    `Description: ${description}`,
    '',
  ].join('\n');

/** Makes the Debian package of an executable; returns its name. */
export function deb(root: string, described: Described, { epoch, arch, executable, out, stage }: Packed): string {
  const file = `${packageName(described)}_${described.version}_${arch}.deb`;
  install(root, executable, stage, described.name);
  const installedKib = sizeKib(stage);
  mkdirSync(join(stage, 'DEBIAN'));
  writeFileSync(join(stage, 'DEBIAN/control'), debControl(described, arch, installedKib));
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', stage]);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', stage, join(out, file)], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(stage, { recursive: true });
  return file;
}

/** The spec of an rpm whose files stand below `stage` already. */
export const rpmSpec = ({ name, version, description, homepage, license }: Described, stage: string): string =>
  [
    '%global debug_package %{nil}',
    // Stripping would take the program out of the executable.
    '%global __os_install_post %{nil}',
    '%global _build_id_links none',
    '%global _binary_payload w6.gzdio',
    '%global source_date_epoch_from_changelog 0',
    '%global use_source_date_epoch_as_buildtime 1',
    '%global clamp_mtime_to_source_date_epoch 1',
    '%global _buildhost localhost',
    `Name: ${packageName({ name })}`,
    `Version: ${version}`,
    'Release: 1',
    `Summary: ${description}`,
    `License: ${license}`,
    `URL: ${homepage}`,
    // Packages of libraries have other names on RHEL (libatomic) and SUSE (libatomic1): rpm reads what Node is linked with.
    'AutoReq: yes',
    'AutoProv: no',
    'Recommends: openssh-clients',
    '',
    '%description',
    `${description}.`,
    '',
    '%install',
    `cp -a '${stage}/.' %{buildroot}`,
    '',
    '%files',
    `%attr(0755, root, root) /usr/bin/${name}`,
    `%attr(0644, root, root) /usr/share/man/man1/*`,
    `%defattr(0644, root, root, 0755)`,
    `/usr/share/doc/${packageName({ name })}`,
    '',
  ].join('\n');

/** Makes the rpm of an executable; returns its name. */
export function rpm(root: string, described: Described, { epoch, arch, executable, out, stage }: Packed): string {
  const file = `${packageName(described)}-${described.version}-1.${arch}.rpm`;
  const files = join(stage, 'files');
  install(root, executable, files, described.name);
  // rpm keeps times that are older than the one it clamps to.
  execFileSync('find', [files, '-exec', 'touch', '-h', '-d', `@${String(epoch)}`, '{}', '+']);
  writeFileSync(join(stage, 'kbuild.spec'), rpmSpec(described, files));
  execFileSync(
    'rpmbuild',
    ['-bb', '--quiet', '--target', arch, '-D', `_topdir ${stage}/top`, join(stage, 'kbuild.spec')],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  renameSync(join(stage, 'top/RPMS', arch, file), join(out, file));
  rmSync(stage, { recursive: true });
  return file;
}
