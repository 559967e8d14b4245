import { expect, test } from 'vitest';
import { CommandError } from '../../src/errors.ts';
import { initDocuments } from '../../src/kubeadm/config.ts';
import { acceptedConfiguration, settingIn } from '../../src/kubeadm/init.step.ts';
import { paths } from '../../src/paths.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedHost,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { fileWith } from '../fakes/files.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const fleet = fleetOf(freshHost(cp1), freshHost(cp2), freshHost(w1));
const accepted = (content: string) => new Map([[paths.acceptedConfig, fileWith(content, 0o600)]]);

test('kubeadm of the first control plane is asked whether it accepts the configuration, and no other', () => {
  expect(acceptedConfiguration.diff(targetOf(inventory, cp1, fleet)).map(({ summary }) => summary)).toEqual([
    'have kubeadm accept its configuration (found not asked yet)',
  ]);
  expect(acceptedConfiguration.diff(targetOf(inventory, cp2, fleet))).toEqual([]);
  expect(acceptedConfiguration.diff(targetOf(inventory, w1, fleet))).toEqual([]);
});

test('a configuration that it has accepted is not asked about again, another one is', () => {
  const content = toYaml(initDocuments(inventory, cp1));
  const again = fleetOf(freshHost(cp1, { files: accepted(content) }), freshHost(cp2), freshHost(w1));
  expect(acceptedConfiguration.diff(targetOf(inventory, cp1, again))).toEqual([]);
  const other = fleetOf(freshHost(cp1, { files: accepted('other') }), freshHost(cp2), freshHost(w1));
  expect(acceptedConfiguration.diff(targetOf(inventory, cp1, other))).toHaveLength(1);
});

test('a host that has joined is not asked', () => {
  const joined = fleetIn(clusterOf(), joinedHost(cp1), joinedHost(cp2), joinedHost(w1));
  expect(acceptedConfiguration.diff(targetOf(inventory, cp1, joined))).toEqual([]);
});

test('what kubeadm refuses is named by the setting of the inventory, and leaves no accepted file', async () => {
  const stderr =
    'error: error unmarshaling configuration schema.GroupVersionKind{Group:"kubeadm.k8s.io", Version:"v1beta4", Kind:"ClusterConfiguration"}: strict decoding error: unknown field "apiServer.certSans"';
  const { on, sent } = recordingOn({
    run: ({ script }, { name }) => {
      if (script.includes('config validate'))
        throw new CommandError(name, 'kubeadm config validate', { status: 1, stdout: '', stderr });
      return '';
    },
  });
  const [change] = acceptedConfiguration.diff(targetOf(inventory, cp1, fleet));
  const error = await change!.apply!(on).catch((one: unknown) => one as CommandError);
  expect(error).toMatchObject({
    remedy: 'mend kubeadm.cluster.apiServer.certSans in the inventory; nothing of the cluster was made yet',
  });
  expect(sent.filter((one) => one.kind === 'write' && one.path === paths.acceptedConfig)).toEqual([]);
});

test.each([
  ['Kind:"KubeletConfiguration"}: strict decoding error: unknown field "maxPod"', 'kubelet.config.maxPod'],
  ['Kind:"InitConfiguration"}: json: cannot unmarshal', 'kubeadm.init'],
  ['error: etcd.local.extraArgs: Invalid value', undefined],
])('%s is about %s', (message, setting) => {
  expect(settingIn(message)).toBe(setting);
});
