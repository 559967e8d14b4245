import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runRotateCa } from '../../src/commands/certs-rotate-ca.ts';
import { runRecoverCerts, runRenewCa, runRenewCerts } from '../../src/commands/certs.ts';
import { runRecoverEtcd } from '../../src/commands/etcd-recover.ts';
import { runRestore } from '../../src/commands/etcd-snapshot.ts';
import { runMoveEndpoint } from '../../src/commands/move-endpoint.ts';
import { runReboot } from '../../src/commands/reboot.ts';
import { runRemove } from '../../src/commands/remove.ts';
import { runReset } from '../../src/commands/reset.ts';
import { runRestoreBackup } from '../../src/commands/restore.ts';
import { runUp } from '../../src/commands/up.ts';
import { runUpgrade } from '../../src/commands/upgrade.ts';
import type { Context } from '../../src/session/context.ts';

/** A file in the place of a snapshot. */
function snapshot(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'kbuild-snapshot-')), 'one.db');
  writeFileSync(file, 'data');
  return file;
}

const COMMANDS: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  up: (context) => runUp(context, {}),
  reboot: (context) => runReboot(context, {}, []),
  upgrade: (context) => runUpgrade(context, {}),
  'upgrade --pause-after-canary': (context) => runUpgrade(context, { pauseAfterCanary: true }),
  'remove cp3': (context) => runRemove(context, {}, ['cp3']),
  reset: (context) => runReset(context, {}),
  'reset --hosts cp3': (context) => runReset(context, { hosts: ['cp3'] }),
  'certs renew': (context) => runRenewCerts(context, { all: true }, []),
  'certs recover': (context) => runRecoverCerts(context, {}),
  'certs renew-ca': (context) => runRenewCa(context, {}, ['ca']),
  'certs rotate-ca': (context) => runRotateCa(context, {}, ['ca']),
  'certs rotate-ca front-proxy-ca': (context) => runRotateCa(context, {}, ['front-proxy-ca']),
  'move-endpoint': (context) => runMoveEndpoint(context, {}, ['new.example:6443']),
  restore: (context) => runRestoreBackup(context, {}, ['prod.age']),
  'etcd snapshot restore': (context) => runRestore(context, {}, [snapshot()]),
  'etcd recover': (context) => runRecoverEtcd(context, { dead: ['cp2', 'cp3'] }),
};

/** Runs a command that changes hosts. */
export const runCommand = (command: string, context: Context): Promise<number> => COMMANDS[command]!(context);
