import { describe, expect, test } from 'vitest';
import { clean } from '../../src/commands/remove.phases.ts';
import type { Change, Step, Target } from '../../src/engine/step.ts';
import { noOwnFiles, noPrograms, packagesReleased } from '../../src/kubeadm/clean-host.step.ts';
import { docker as runtime } from '../../src/runtime/docker.value.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import { noSharedSettings } from '../../src/runtime/settings-file.step.ts';
import { settingsText, withKbuild } from '../../src/runtime/settings-file.value.ts';
import { inventory as inventoryOf } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const inventory = inventoryOf({
  runtime: { name: 'docker', package: 'docker-ce', version: '29.9.0' },
  downloads: {
    ...inventoryOf().downloads,
    sha256: { 'https://example.com/cri-dockerd-0.4.10.amd64.tgz': '0'.repeat(64) },
  },
});
const about = { inventory };
const step = (name: string): Step => runtimeSteps(inventory).find((one) => one.name === name) as Step;
const scriptsOf = async (change: Change): Promise<readonly string[]> => {
  const { on, sent } = recordingOn();
  await change.apply!(on);
  return sent.flatMap((one) => ('script' in one ? [one.script] : []));
};
const summaries = (one: Step, seen: Target) => one.diff(seen).map(({ summary }) => summary);
const operators = '{"log-driver":"json-file"}\n';
const merged = withKbuild({ text: operators, record: undefined }, (there) =>
  runtime.shared!.settings(inventory, there),
);
const there = { kind: 'file', sha256: '', mode: 0o640, owner: 'root:root', mtimeMs: 0 } as const;
const installed = (version: string) => new Map([['docker-ce', { state: 'installed', version, held: true } as const]]);

describe('daemon.json', () => {
  test('is written before a package that is not there, or that is older than the present one', () => {
    for (const packages of [new Map(), installed('5:30.1.0-1')])
      expect([
        summaries(step('docker-settings-first'), target({ packages }, about)).length,
        summaries(step('docker-settings'), target({ packages }, about)),
      ]).toEqual([2, []]);
  });
  test('is tried by the Docker that is there, otherwise', () => {
    const seen = target({ packages: installed('5:28.5.2-1') }, about);
    expect(summaries(step('docker-settings-first'), seen)).toEqual([]);
    expect(summaries(step('docker-settings'), seen)).toHaveLength(2);
    expect(runtime.shared!.validate('/x').script).toContain('dockerd --validate --config-file');
  });
  test('that is no JSON is an error which says so, and changes nothing', async () => {
    const seen = target({ sharedSettings: { text: '{', record: undefined } }, about);
    const [change, ...more] = step('docker-settings-first').diff(seen);
    expect(more).toEqual([]);
    expect(change!.summary).toBe('write /etc/docker/daemon.json (found what is no JSON object)');
    await expect(change!.apply!(() => expect.fail('contacts the host'))).rejects.toThrow(
      /kbuild cannot merge its settings into \/etc\/docker\/daemon\.json: /,
    );
  });
});

describe('cri-dockerd', () => {
  const program = (version: string, from?: 'binaries') =>
    target(
      {
        packages: new Map([
          ['cri-dockerd', { state: 'installed', version, held: false, ...(from === undefined ? {} : { from }) }],
        ]),
      },
      about,
    );
  test('comes as published, with the SHA-256 of the inventory', async () => {
    const [change] = step('docker-cri-program').diff(target({}, about));
    const [text] = await scriptsOf(change!);
    expect(text).toContain(
      `cri-dockerd 0.4.10 archive /usr/local/bin cri-dockerd https://example.com/cri-dockerd-0.4.10.amd64.tgz sha256:${'0'.repeat(64)}`,
    );
    expect(text).toMatch(/^RESTART=cri-docker$|RESTART='cri-docker'/m);
  });
  test('of another version is replaced; a package of the system stays beside it', () => {
    expect(summaries(step('docker-cri-program'), program('0.4.10', 'binaries'))).toEqual([]);
    expect(summaries(step('docker-cri-program'), program('0.4.9', 'binaries'))).toEqual([
      'install cri-dockerd 0.4.10 (found 0.4.9)',
    ]);
    expect(summaries(step('docker-cri-program'), program('0.4.10.3-0'))).toEqual([
      'install cri-dockerd 0.4.10 (found none)',
    ]);
  });
  test('that an operator has set up by hand keeps its unit: kbuild refuses to overwrite it', async () => {
    const path = '/etc/systemd/system/cri-docker.service';
    const files = new Map([[path, there]]);
    const [, change] = step('docker-cri-units').diff(target({ files }, about));
    expect(change!.summary).toBe(`write ${path} (found one that is not kbuild's)`);
    await expect(scriptsOf(change!)).rejects.toThrow(/kbuild did not write it/);
    expect(summaries(step('docker-cri-units'), target({ files, ownFiles: [path] }, about))[1]).toBe(
      `write ${path} (content differs)`,
    );
  });
  test('without a SHA-256 is refused before anything is downloaded', async () => {
    const bare = { inventory: inventoryOf({ runtime: { name: 'docker', package: 'docker-ce', version: '29.9.0' } }) };
    const [change] = step('docker-cri-program').diff(target({}, bare));
    await expect(scriptsOf(change!)).rejects.toThrow(/the SHA-256 of https:\S+ is published nowhere/);
  });
});

describe('reset', () => {
  test('takes the settings out before the record of them, and restarts nothing', async () => {
    const files = new Map([['/etc/docker/daemon.json', there]]);
    const seen = target({ sharedSettings: merged, files }, about);
    expect(summaries(noSharedSettings, seen)).toEqual([
      "take kbuild's settings out of /etc/docker/daemon.json (Docker Engine reads it at its next start)",
      "remove /etc/docker/kbuild-daemon.json (kbuild's record of /etc/docker/daemon.json)",
    ]);
    const scripts = await scriptsOf(noOwnFiles.diff(target({ ownFiles: [runtime.paths.config] }, about))[0]!);
    expect(scripts[0]).toMatch(/^RUNTIME=''$/m);
    expect(clean.indexOf(noSharedSettings)).toBeLessThan(clean.indexOf(noOwnFiles));
  });
  test('removes a daemon.json that kbuild made', () => {
    const own = withKbuild({ text: undefined, record: undefined }, (found) =>
      runtime.shared!.settings(inventory, found),
    );
    expect(summaries(noSharedSettings, target({ sharedSettings: own }, about))[0]).toBe(
      "remove /etc/docker/daemon.json (all of it is kbuild's)",
    );
  });
  test('leaves a daemon.json alone of which it has no record', () => {
    const seen = target({ sharedSettings: { text: settingsText({ 'live-restore': true }), record: undefined } }, about);
    expect(summaries(noSharedSettings, seen)).toEqual([]);
  });
  test('stops cri-dockerd with its socket, also where others have containers on Docker', async () => {
    const binaries = new Map([
      ['cri-dockerd', { state: 'installed', version: '0.4.10', held: true, from: 'binaries' } as const],
    ]);
    const [change] = noPrograms.diff(target({ binaries, containers: new Map([['docker', 1]]) }, about));
    const [text] = await scriptsOf(change!);
    expect(text).toMatch(/UNITS='cri-docker\.socket\ncri-docker'/);
  });
  test("unholds Docker's packages", () => {
    const held = { state: 'installed', version: '5:29.9.0-1', held: true } as const;
    const packages = new Map([
      ['docker-ce', held],
      ['docker-ce-cli', held],
      ['containerd.io', held],
    ]);
    expect(summaries(packagesReleased, target({ packages }, about))).toEqual([
      'unhold docker-ce, docker-ce-cli, containerd.io',
    ]);
  });
});
