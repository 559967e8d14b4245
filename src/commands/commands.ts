import { command, type Command, type CommandGroup } from '../session/command.ts';
import { backup, restore, verifyBackup } from './backup.command.ts';
import { certs, recoverCerts, renewCa, renewCerts, rotateCa } from './certs.command.ts';
import { defragmentEtcd, recoverEtcd, restoreSnapshot, saveSnapshot } from './etcd.command.ts';
import { moveEndpoint, reboot, remove, reset } from './hosts.command.ts';
import { explain, init, schema, validate } from './inventory.command.ts';
import { facts, status } from './status.command.ts';
import { completion, kubeconfig, kubectl, proxy, report, unlock, windowsSelftest } from './tools.command.ts';
import { check, plan, up, upgrade } from './up.command.ts';

/**
 * The program: all commands, in the order of `kbuild --help`. The code of each command is loaded when the command runs.
 * It stands here and not beside the declaration, because the code imports the type of its options from there.
 */
export const commands: readonly (Command | CommandGroup)[] = [
  command(init, async () => (await import('./init.ts')).runInit),
  command(validate, async () => (await import('./validate.ts')).runValidate),
  command(schema, async () => (await import('./schema.ts')).runSchema),
  command(explain, async () => (await import('./explain.ts')).runExplain),
  command(check, async () => (await import('./check.ts')).runCheck),
  command(plan, async () => (await import('./plan.ts')).runPlan),
  command(up, async () => (await import('./up.ts')).runUp),
  command(upgrade, async () => (await import('./upgrade.ts')).runUpgrade),
  command(reboot, async () => (await import('./reboot.ts')).runReboot),
  command(moveEndpoint, async () => (await import('./move-endpoint.ts')).runMoveEndpoint),
  command(status, async () => (await import('./status.ts')).runStatus),
  command(report, async () => (await import('./report.ts')).runReport),
  command(kubectl, async () => (await import('./kubectl.ts')).runKubectl),
  command(proxy, async () => (await import('./kubectl.ts')).runProxy),
  command(kubeconfig, async () => (await import('./kubeconfig.ts')).runKubeconfig),
  command(remove, async () => (await import('./remove.ts')).runRemove),
  {
    name: certs.name,
    summary: certs.summary,
    itself: command(certs, async () => (await import('./certs.ts')).runCerts),
    commands: [
      command(renewCerts, async () => (await import('./certs.ts')).runRenewCerts),
      command(recoverCerts, async () => (await import('./certs.ts')).runRecoverCerts),
      command(renewCa, async () => (await import('./certs.ts')).runRenewCa),
      command(rotateCa, async () => (await import('./certs-rotate-ca.ts')).runRotateCa),
    ],
  },
  {
    name: backup.name,
    summary: backup.summary,
    itself: command(backup, async () => (await import('./backup.ts')).runBackup),
    commands: [command(verifyBackup, async () => (await import('./backup.ts')).runVerifyBackup)],
  },
  command(restore, async () => (await import('./restore.ts')).runRestoreBackup),
  {
    name: 'etcd',
    summary: 'Save, restore and recover the data of etcd, and make room in it',
    commands: [
      {
        name: 'snapshot',
        summary: 'Snapshots of etcd',
        commands: [
          command(saveSnapshot, async () => (await import('./etcd-snapshot.ts')).runSave),
          command(restoreSnapshot, async () => (await import('./etcd-snapshot.ts')).runRestore),
        ],
      },
      command(recoverEtcd, async () => (await import('./etcd-recover.ts')).runRecoverEtcd),
      command(defragmentEtcd, async () => (await import('./etcd-defragment.ts')).runDefragment),
    ],
  },
  {
    name: 'windows',
    summary: 'Windows workers (simulated; never run on Windows hardware)',
    commands: [command(windowsSelftest, async () => (await import('./windows-selftest.ts')).runSelftest)],
  },
  command(reset, async () => (await import('./reset.ts')).runReset),
  command(facts, async () => (await import('./facts.ts')).runFacts),
  command(unlock, async () => (await import('./unlock.ts')).runUnlock),
  command(completion, async () => (await import('./completion.ts')).runCompletion),
];
