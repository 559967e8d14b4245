import type { ChronyPackaging } from './distribution.value.ts';

/** The package has the same name everywhere. */
export const CHRONY = 'chrony';

const plain = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** `chronyd -p` prints a `sourcedir`, and not what the files in the folder say. */
const sourcesIn = (folder: string): Pick<ChronyPackaging, 'directive' | 'proof'> => {
  const directive = `sourcedir ${folder}`;
  return { directive, proof: () => [directive] };
};

/** A folder whose `*.sources` the configuration of the package reads: chrony.conf(5), since chrony 4.0. */
export const chronySources = (unit: string, config: string, folder: string): ChronyPackaging => ({
  unit,
  config,
  file: `${folder}/kbuild.sources`,
  content: plain,
  ...sourcesIn(folder),
});

/** A folder whose `*.conf` the configuration of the package includes: `chronyd -p` prints their lines in its place. */
export const chronyIncluded = (unit: string, config: string, folder: string): ChronyPackaging => ({
  unit,
  config,
  file: `${folder}/kbuild.conf`,
  content: plain,
  directive: `include ${folder}/*.conf`,
  proof: (lines) => lines,
});

/**
 * The configuration of the package reads only the folder for servers of DHCP, which is in memory: systemd-tmpfiles puts
 * the file there at every boot. A line of tmpfiles.d(5) has the content in its last field, with `\n` between lines.
 */
export const chronyOfDhcp = (unit: string, config: string, folder: string): ChronyPackaging => {
  const made = `${folder}/kbuild.sources`;
  return {
    unit,
    config,
    file: '/etc/tmpfiles.d/kbuild-chrony.conf',
    content: (lines) => `f+ ${made} 0644 root root - ${lines.map((line) => `${line}\\n`).join('')}\n`,
    ...sourcesIn(folder),
    made,
  };
};
