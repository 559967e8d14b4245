import * as z from 'zod';
import { containerd } from '../../components/runtimes/containerd.ts';
import { text, url, urlOrFile } from './formats.ts';

/** The fingerprint that pins a signing key. */
export const fingerprint = () =>
  text(/^(?:[0-9A-Fa-f]{4} {0,2}){10}$/, 'the 40 hexadecimal digits of the primary key’s fingerprint');

/** The signing key of a repository. */
export const key = (description: string) => urlOrFile().exactOptional().meta({ description });

/** Settings whose defaults are the runtime's; editors and the documentation show those of the default runtime. */
const DEFAULTS = containerd.defaults.repository;

/** What differs between the two formats of packages, in words. */
interface Words {
  readonly url: string;
  readonly suite: string;
  readonly suites: string;
  readonly fingerprint: string;
}

/** Where the packages of a runtime in one format are; none of it must be named. */
const runtimeSource = (defaults: typeof DEFAULTS.rpm, words: Words) => ({
  url: url().exactOptional().meta({ default: defaults.url, description: words.url }),
  suite: text(/^(?:\/|[A-Za-z0-9{][A-Za-z0-9._{}/-]*)$/, `${words.suite}, or "/" for a flat repository`)
    .exactOptional()
    .meta({ default: defaults.suite, description: words.suites }),
  component: text(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'the name of a component')
    .exactOptional()
    .meta({ default: defaults.component, description: 'Component; of no meaning in a flat repository.' }),
  key: key('Its signing key, armored: URL or file. Default: gpg below the url.'),
  fingerprint: fingerprint().exactOptional().meta({ default: defaults.fingerprint, description: words.fingerprint }),
});

/** `kubernetes.repository.rpm` */
export const kubernetesRpm = z
  .strictObject({
    url: url()
      .default('https://pkgs.k8s.io/core:/stable:/v{minor}/rpm')
      .meta({ description: 'rpm repository; {minor} stands for 1.36 and the like.' }),
    key: key('Its signing key, armored: URL or file. Default: repodata/repomd.xml.key below the url.'),
    fingerprint: fingerprint()
      .default('DE15B14486CD377B9E876E1A234654DA9A296436')
      .meta({ description: "Fingerprint of the signing key. Default: that of pkgs.k8s.io's." }),
  })
  .prefault({})
  .meta({ description: 'The repository of hosts with rpm packages.' });

/** `runtime.repository.rpm` */
const runtimeRpm = z
  .strictObject(
    runtimeSource(DEFAULTS.rpm, {
      url: 'rpm repository; {distribution} stands for the distribution whose packages a host takes, {codename} for its major version. The packages are below url/suite/ARCHITECTURE/component.',
      suite: 'the name of a folder',
      suites: 'Folder of the release; "/" for a flat repository.',
      fingerprint: "Fingerprint of the signing key. Default: that of Docker's rpm packages, which is another key.",
    }),
  )
  .prefault({})
  .meta({ description: 'The repository of hosts with rpm packages.' });

/** `runtime.repository` */
export const runtimeRepository = z
  .strictObject({
    ...runtimeSource(DEFAULTS, {
      url: 'apt repository; {distribution} stands for debian or ubuntu, {codename} for bookworm and the like, as each host says.',
      suite: 'the name of a suite',
      suites: 'Suite; "/" for a flat repository.',
      fingerprint: "Fingerprint of the signing key. Default: that of Docker's.",
    }),
    rpm: runtimeRpm,
  })
  .prefault({})
  .meta({ description: 'Where the runtime comes from. The defaults here are those of containerd.' });
