import { isDnsPod } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { when } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { installation } from '../host/packages/installer.value.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { paths } from '../paths.ts';
import { roleImages } from '../runtime/images.step.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { atVersion } from './at-version.value.ts';
import { etcdBefore, type Hop } from './hop.ts';
import { hasNewerKubeadm, isBehind } from './versions.ts';

/** True for a joined host that runs something older than one of these hops. */
const isDue = (target: Target, hops: readonly Hop[]): boolean =>
  standing(target) === 'joined' && hops.some((hop) => isBehind(target, hop));

/**
 * True for a joined host that gets packages in these hops: newer ones, or the kubeadm of before in the place of a newer
 * one.
 */
const getsPackages = (target: Target, hops: readonly Hop[]): boolean =>
  isDue(target, hops) || (standing(target) === 'joined' && hasNewerKubeadm(target, hops));

/** True while an upgrade of the host is due, or has left the records of what it downloaded. */
const isUnderWay = (target: Target, hops: readonly Hop[]): boolean =>
  [...target.facts.files.keys()].some((path) => path.startsWith(`${paths.upgrade}/`)) || isDue(target, hops);

/** Steps that change a host only while this is true of it. */
const onlyIf = (holds: (target: Target) => boolean, steps: readonly Step[]): readonly Step[] =>
  steps.map((step) => when(holds, step));

/** The package repositories of all hops at once, so that everything can be downloaded before anything restarts. */
export const hopRepositories = (hops: readonly Hop[]): readonly Step[] =>
  onlyIf(
    (target) => getsPackages(target, hops),
    packageRepository(
      'kubernetes',
      ({ kubernetes }) => kubernetes.repository,
      (inventory) => hops.map(({ version }) => atVersion(inventory, version).kubernetes.repository),
    ),
  );

/** The package repository of the last hop alone, as `up` writes it. After one hop it is there already. */
export const lastRepository = (hops: readonly Hop[]): readonly Step[] =>
  hops.length < 2
    ? []
    : onlyIf(
        (target) => isUnderWay(target, hops),
        packageRepository('kubernetes', ({ kubernetes }) => kubernetes.repository),
      );

/** The file that records that a host has all that it needs of a version. */
const stampOf = ({ version }: Hop): string => `${paths.upgrade}/${version}`;

/** The image of etcd that a hop puts between the running one and kubeadm's own. */
const etcdBetween = ({ inventory }: Pick<Target, 'inventory'>, tag: string): string =>
  `${inventory.kubernetes.imageRepository}/etcd:${tag}-0`;

/**
 * Pulls the image of etcd that a hop puts between, on a host for which the run downloaded nothing: `--hosts` leaves it
 * out, and yet its member needs this patch. A member must not be away while its image is pulled. @throws CommandError
 * if it cannot be pulled
 */
export async function pullEtcdBetween(on: On, target: Target, hop: Hop): Promise<void> {
  const { inventory, host, facts } = target;
  const between = etcdBefore(hop);
  if (between === undefined || facts.files.has(stampOf(hop))) return;
  const images = script('runtime/pull-images.sh', {
    ...{ IMAGES: [etcdBetween({ inventory }, between)], VERSION: '', ASKED: [] },
    ...{ REPOSITORY: inventory.kubernetes.imageRepository, KUBEADM: '' },
  });
  await on(host).job('images', withRuntime(inventory, host, images));
}

/**
 * The images of CoreDNS that run now. A drain moves a pod of it to a node that never had its image, while kubeadm has
 * not deployed the newer one yet: without a registry, that pod would not come back.
 */
const runningDns = ({ fleet: { cluster } }: Target): readonly string[] =>
  cluster.state === 'up' ? [...new Set(cluster.pods.filter(isDnsPod).flatMap(({ images }) => images))].toSorted() : [];

/**
 * Downloads packages and pulls images of a hop. Installs nothing and restarts nothing. Workers skip the packages of a
 * hop before the `last` one; their kube-proxy goes through every hop.
 */
export const fetched = (hop: Hop, last: Hop): Step => ({
  name: `fetched-${hop.version}`,
  watches: { trees: [paths.upgrade], packages: ['kubelet'] },
  diff: (target) => {
    const { host, facts } = target;
    if (standing(target) !== 'joined' || !isBehind(target, hop) || facts.files.has(stampOf(hop))) return [];
    const inventory = atVersion(target.inventory, hop.version);
    const isControlPlane = host.role === 'control-plane';
    const holdsEtcd = inventory.etcd.topology === 'stacked' ? isControlPlane : host.role === 'etcd';
    const between = holdsEtcd ? etcdBefore(hop) : undefined;
    const hasPackages = host.role !== 'worker' || hop.version === last.version;
    // Pods of CoreDNS may run on any node, and no tag of it is known without kubeadm.
    const asked = [...(holdsEtcd ? ['etcd'] : []), ...(host.role !== 'etcd' && hasPackages ? ['coredns'] : [])];
    const program = `${paths.upgrade}-kubeadm`;
    const images = script('runtime/pull-images.sh', {
      IMAGES: [
        ...roleImages({ inventory, host }),
        ...(host.role === 'etcd' ? [] : runningDns(target)),
        ...(between === undefined ? [] : [etcdBetween({ inventory }, between)]),
      ],
      VERSION: asked.length > 0 ? hop.version : '',
      ASKED: asked,
      REPOSITORY: inventory.kubernetes.imageRepository,
      KUBEADM: program,
    });
    return [
      {
        summary: `download ${hasPackages ? 'packages and images' : 'images'} of Kubernetes ${hop.version} (found none)`,
        apply: async (on) => {
          const remote = on(host);
          const request = {
            packages: { kubeadm: hop.version, kubelet: hop.version, kubectl: hop.version },
            optional: [],
            hold: [],
            sources: ['kubernetes'] as const,
            proxy: inventory.proxy,
            unpackKubeadm: program,
          };
          if (hasPackages) await remote.job('packages', installation(target, request));
          await remote.job('images', withRuntime(inventory, host, images));
          await remote.run(sh`rm -f -- ${program}`);
          await remote.write(stampOf(hop), `Kubernetes ${hop.version}\n`);
        },
      },
    ];
  },
});

/** Removes the records of what was downloaded for these hops. */
export const nothingFetched = (hops: readonly Hop[]): Step => ({
  name: 'downloads-forgotten',
  watches: { trees: [paths.upgrade], packages: ['kubelet'] },
  diff: (target) => {
    const { host } = target;
    if (!isUnderWay(target, hops)) return [];
    return [
      {
        summary: `remove the records of what was downloaded from ${host.name}`,
        apply: async (on) => {
          await on(host).run(sh`rm -rf -- ${paths.upgrade} ${`${paths.upgrade}-kubeadm`}`);
        },
      },
    ];
  },
});
