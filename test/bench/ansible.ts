import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { BenchFleet } from './fleet.ts';

/** How to run ansible-playbook over the fleet. */
export interface Ansible {
  readonly command: (playbook: 'tasks' | 'one', addresses: readonly string[]) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const LIBRARIES = 'jinja2 markupsafe packaging resolvelib yaml cryptography cffi-backend dnspython'.split(' ');
const PACKAGES = ['ansible-core', ...LIBRARIES.map((name) => `python3-${name}`)];

/** Debian's ansible-core, unpacked beside the system: nothing is installed. undefined where apt does not have it. */
export function ansible(fleet: BenchFleet, checks: string): Ansible | undefined {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kbuild-bench', 'ansible');
  const program = join(folder, 'usr/bin/ansible-playbook');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    try {
      execFileSync('apt-get', ['download', '-q', ...PACKAGES], { cwd: folder, stdio: 'ignore' });
    } catch {
      return undefined;
    }
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.deb')))
      execFileSync('dpkg', ['-x', name, '.'], { cwd: folder });
  }
  const at = (name: string) => join(fleet.folder, name);
  // Lines of the script, one task each; the last are what `command` cannot do without a shell.
  const lines = readFileSync(checks, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const playbook = (tasks: readonly object[]) =>
    stringify([
      {
        hosts: 'all',
        gather_facts: false,
        tasks: tasks.map((task) => ({ ...task, changed_when: false, failed_when: false })),
      },
    ]);
  writeFileSync(at('tasks.yml'), playbook(lines.map((line) => ({ shell: line }))));
  writeFileSync(at('one.yml'), playbook([{ shell: lines.join('\n') }]));
  writeFileSync(
    at('ansible.cfg'),
    [
      ...['[defaults]', 'forks=20', 'stdout_callback=minimal', 'interpreter_python=/usr/bin/python3'],
      ...[`private_key_file=${fleet.identityFile}`, 'remote_user=root', 'retry_files_enabled=False'],
      ...['[ssh_connection]', 'pipelining=True', `control_path_dir=${at('cp')}`],
      `ssh_args=-F none -C -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=${fleet.knownHostsFile}`,
      '',
    ].join('\n'),
  );
  return {
    command: (name, addresses) => {
      writeFileSync(at('hosts.ini'), addresses.map((one) => `${one} ansible_port=${String(fleet.port)}\n`).join(''));
      return ['/usr/bin/python3', program, '-i', at('hosts.ini'), at(`${name}.yml`)];
    },
    env: {
      ANSIBLE_CONFIG: at('ansible.cfg'),
      ANSIBLE_LOCAL_TEMP: at('ansible-tmp'),
      PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
      PYENV_VERSION: 'system',
    },
  };
}
