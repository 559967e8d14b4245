/** Upstream's conformance specifications (kubernetes `test/e2e`, `[Conformance]`), against a cluster that kbuild built. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildCalico, withCalico } from './calico-operator.ts';
import { buildCilium, noCgroups, ownCgroups, withCilium } from './cilium.ts';
import { buildOnDemand } from './build-all.ts';
import { CONFORMANCE_IMAGES_PATH, CONFORMANCE_PATH } from './conformance-recipes.ts';
import { LabError } from './errors.ts';
import type { LabInventory } from './inventory.ts';
import { CONFORMANCE_IMAGES_URL, REGISTRY_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { attempt } from './run.ts';
import { type GinkgoReport, type Verdict, verdictsOf } from './verdicts.ts';
import { KUBERNETES } from './versions.ts';

const [{ version: VERSION }] = KUBERNETES;

const nothing = (): Promise<void> => Promise.resolve();

/** What builds each network, what its hosts need before `up` and leave behind when they are down, and the settings of its inventory. */
const PLUGINS = {
  flannel: { build: nothing, before: nothing, after: nothing, with: (plain: LabInventory) => plain },
  calico: { build: buildCalico, before: nothing, after: nothing, with: withCalico },
  cilium: {
    ...{ build: buildCilium, before: ownCgroups, after: noCgroups },
    with: (plain: LabInventory) => withCilium(plain, 'iptables'),
  },
} as const;

/** A plugin that the specifications can run on. */
export type Plugin = keyof typeof PLUGINS;

/** The plugin that the environment names. @throws TypeError for one that is none */
export function chosenPlugin(): Plugin {
  const name = process.env['KBUILD_LAB_PLUGIN'] ?? 'flannel';
  const found = (Object.keys(PLUGINS) as Plugin[]).find((one) => one === name);
  if (found === undefined) throw new TypeError(`KBUILD_LAB_PLUGIN: ${Object.keys(PLUGINS).join(', ')}`);
  return found;
}

/** What the hosts of such a network need before `up`. */
export const prepareHosts = (plugin: Plugin, hosts: readonly string[]): Promise<void> => PLUGINS[plugin].before(hosts);

/** Removes what they have left on this machine. They must be down. */
export const clearHosts = (plugin: Plugin, hosts: readonly string[]): Promise<void> => PLUGINS[plugin].after(hosts);

/** Makes the suite, its images and the plugin's, unless they are there. To be called before the hosts are up. */
export async function buildConformance(plugin: Plugin): Promise<void> {
  await PLUGINS[plugin].build();
  for (const path of [CONFORMANCE_PATH, CONFORMANCE_IMAGES_PATH]) await buildOnDemand(path);
}

/** Settings of an inventory whose hosts get the specifications' images. */
export function withConformance(plugin: Plugin, plain: LabInventory): LabInventory {
  const own = PLUGINS[plugin].with(plain);
  const runtime = own['runtime'] as { readonly registries: readonly { readonly host: string }[] };
  const registries = runtime.registries.map((one) =>
    one.host === 'registry.k8s.io' ? { ...one, mirrors: [REGISTRY_URL, CONFORMANCE_IMAGES_URL] } : one,
  );
  return { ...own, runtime: { ...runtime, registries } };
}

/** Specifications that cannot run in the lab, as regular expressions, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {};

/** The machine's other work is no fault of the cluster's: what fails has a second attempt, and the verdict says so. */
const ATTEMPTS = 2;

/** The kubectl of the lab's hosts. */
function kubectlOfHosts(): string {
  const name = readdirSync(paths.build).find((one) =>
    new RegExp(`^kubernetes-(?:download-)?${VERSION}-\\w+$`).test(one),
  );
  if (name === undefined) throw new LabError(`the lab has no programs of Kubernetes ${VERSION}`);
  return join(paths.build, name, 'kubectl');
}

/** Specifications to run, one after the other, in one process. */
export interface Choice {
  /** Names the report and the output. */
  readonly name: string;
  /** Regular expressions; a specification runs when all of `focus` are found in its name, and none of `without`. */
  readonly focus: string;
  readonly without: readonly string[];
}

/** Runs what is chosen. `folder`: where kubeconfig, report and output lie. @throws LabError where the suite itself does not run */
export async function runSpecifications(folder: string, { name, focus, without }: Choice): Promise<readonly Verdict[]> {
  const report = join(folder, `${name}.json`);
  const { code, stdout, stderr } = await attempt(join(paths.www, CONFORMANCE_PATH, 'e2e.test'), [
    `--kubeconfig=${join(folder, 'admin.conf')}`,
    `--kubectl-path=${kubectlOfHosts()}`,
    '--provider=skeleton',
    `--ginkgo.focus=${focus}`,
    ...without.map((one) => `--ginkgo.skip=${one}`),
    `--ginkgo.flake-attempts=${String(ATTEMPTS)}`,
    '--ginkgo.no-color',
    '--ginkgo.silence-skips',
    '--ginkgo.timeout=6h',
    `--ginkgo.json-report=${report}`,
  ]);
  const said = `${stdout}${stderr}`.trim().split('\n').slice(-30).join('\n');
  const verdicts = verdictsOf(
    await Promise.resolve()
      .then(() => JSON.parse(readFileSync(report, 'utf8')) as readonly GinkgoReport[])
      .catch((error: unknown) => {
        throw new LabError(`${name}: no report (exit ${String(code)})\n${said}`, { cause: error });
      }),
  );
  if (verdicts.length === 0) throw new LabError(`${name}: nothing ran (exit ${String(code)})\n${said}`);
  return verdicts;
}
