import { acting } from '../cluster/acting.ts';
import { isMixed } from '../cluster/api-versions.ts';
import { corefileParts, corefileWith, ownBlocks, takenZones } from '../configuration/corefile.ts';
import { COREDNS } from '../configuration/dns.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { objectKey } from '../facts/cluster.ts';
import { ofCluster } from '../facts/of-cluster.ts';
import { objectsOf, within, type JsonObject } from '../shell/decode.ts';
import { FIELD_MANAGER } from '../facts/ownership.ts';
import type { Inventory } from '../model/inventory.ts';
import { textDiff } from '../resources/text-diff.ts';
import { waitForApi } from '../resources/wait-for-api.ts';
import { script } from '../templates.ts';

const EDIT = '`kubectl -n kube-system edit configmap coredns`';

/** The pod that tries a Corefile. */
const TRIAL = 'kbuild-dns-trial';
const COREFILE_ANNOTATION = 'kbuild.dev/corefile';

/** How long a trial may live, in s, if nothing ends it: longer than the script waits for it. */
const TRIAL_SECONDS = 300;

/**
 * A pod as those of the Deployment, with another Corefile. It gets no requests of DNS, and takes no other pod's place: it has
 * neither the labels of CoreDNS nor its priority, and asks for no resources. undefined if there is no Deployment as kubeadm makes it.
 */
function trialPod(deployment: JsonObject | undefined, corefile: string): JsonObject | undefined {
  const spec = within(deployment, 'spec', 'template', 'spec');
  const containers = objectsOf(spec['containers']);
  const volumes = objectsOf(spec['volumes']);
  const isConfig = ({ configMap }: JsonObject): boolean => within(configMap)['name'] === 'coredns';
  if (containers.length === 0 || !volumes.some(isConfig)) return undefined;
  const field = { fieldPath: `metadata.annotations['${COREFILE_ANNOTATION}']` };
  const without = (object: JsonObject, ...keys: readonly string[]): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: TRIAL,
      namespace: 'kube-system',
      labels: { app: TRIAL },
      annotations: { [COREFILE_ANNOTATION]: corefile },
    },
    spec: {
      ...without(spec, 'priorityClassName', 'priority', 'hostNetwork', 'affinity', 'topologySpreadConstraints'),
      restartPolicy: 'Never',
      activeDeadlineSeconds: TRIAL_SECONDS,
      terminationGracePeriodSeconds: 1,
      containers: containers.map((container) => without(container, 'resources', 'livenessProbe')),
      volumes: volumes.map((volume) =>
        isConfig(volume)
          ? { name: volume['name'], downwardAPI: { items: [{ path: 'Corefile', fieldRef: field }] } }
          : volume,
      ),
    },
  };
}

const brokenParts = ({ name }: Inventory): Refused =>
  new Refused(
    name,
    'the Corefile has only one of the two lines between which kbuild writes dns.blocks',
    `delete what is left of them with ${EDIT}, and run the same command again`,
  );

const takenBlocks = ({ name }: Inventory, zones: readonly string[]): Refused =>
  new Refused(
    name,
    `the Corefile already has a block for ${zones.join(', ')} that kbuild did not write`,
    `delete it with ${EDIT}, or take the zone out of dns.blocks`,
  );

const untried = ({ name }: Inventory): Refused =>
  new Refused(
    name,
    'there is no Deployment kube-system/coredns as kubeadm makes it, whose pods could try dns.blocks',
    'bring it back (`kubeadm init phase addon coredns` on a control plane), or take dns.blocks out',
  );

/**
 * Writes the server blocks of `dns.blocks` into the Corefile, between two lines of kbuild's, and leaves the rest as it is. Before
 * the cluster gets a Corefile, a pod of CoreDNS has to become ready with it: with a mistake there, CoreDNS would go on until
 * its pods start anew, and then no name of the cluster would be found.
 */
export const dnsBlocks: Step<'cluster'> = {
  name: 'dns-blocks',
  settleMs: 30_000,
  diff: ({ inventory, facts, fleet }) => {
    const { blocks } = inventory.dns;
    const own = ownBlocks(blocks);
    if (facts.state === 'absent') return own === '' ? [] : [{ summary: 'write dns.blocks into the Corefile' }];
    if (facts.state === 'down') return own === '' ? [] : [waitForApi(facts)];
    // A cluster may have no CoreDNS of kubeadm.
    if (facts.corefile === '') return [];
    const parts = corefileParts(facts.corefile);
    // Without blocks in the inventory, a line that is left is a comment like any other.
    if (parts === 'broken' && own === '') return [];
    if (parts === 'broken') throw brokenParts(inventory);
    if (parts.own === own || isMixed(facts)) return [];
    const taken = takenZones(parts.rest, blocks);
    if (taken.length > 0) throw takenBlocks(inventory, taken);
    const corefile = corefileWith(parts.rest, own);
    const live = facts.objects.get(objectKey(COREDNS));
    const trial = own === '' ? undefined : ofCluster(facts, 'the Deployment coredns', () => trialPod(live, corefile));
    if (own !== '' && trial === undefined) throw untried(inventory);
    const found = parts.own === '' ? 'found none' : 'found others';
    return [
      {
        summary:
          own === ''
            ? 'take dns.blocks out of the Corefile (not in the inventory any more)'
            : `write dns.blocks into the Corefile (${found})`,
        preview: () =>
          Promise.resolve(`ConfigMap kube-system/coredns, Corefile\n${textDiff(facts.corefile, corefile)}`),
        apply: async (on) => {
          const host = acting(fleet);
          await on(host).job(
            'dns-blocks',
            script('linux/dns-blocks.sh', {
              KUBECTL: kubectl(inventory, host).join(' '),
              MANAGER: FIELD_MANAGER,
              TRIAL,
              POD: trial === undefined ? '' : JSON.stringify(trial),
              // Who has edited the Corefile meanwhile does not lose the edit.
              PATCH: JSON.stringify([
                { op: 'test', path: '/data/Corefile', value: facts.corefile },
                { op: 'replace', path: '/data/Corefile', value: corefile },
              ]),
            }),
          );
        },
      },
    ];
  },
};
