import * as z from 'zod';
import { containerd } from '../../components/runtimes/containerd.ts';
import { text, url, urlOrFile } from './formats.ts';

/** The fingerprint that pins a signing key. */
export const fingerprint = () =>
  text(/^(?:[0-9A-Fa-f]{4} {0,2}){10}$/, 'the 40 hexadecimal digits of the primary key’s fingerprint');

/** The signing key of a repository. */
export const key = (description: string) => urlOrFile().exactOptional().meta({ description });

/** A setting whose default is the runtime's; editors and the documentation show that of the default runtime. */
const { rpm: DEFAULTS } = containerd.defaults.repository;

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
export const runtimeRpm = z
  .strictObject({
    url: url().exactOptional().meta({
      default: DEFAULTS.url,
      description:
        'rpm repository; {distribution} stands for the distribution whose packages a host takes, {codename} for its major version. The packages are below url/suite/ARCHITECTURE/component.',
    }),
    suite: text(/^(?:\/|[A-Za-z0-9{][A-Za-z0-9._{}/-]*)$/, 'the name of a folder, or "/" for a flat repository')
      .exactOptional()
      .meta({ default: DEFAULTS.suite, description: 'Folder of the release; "/" for a flat repository.' }),
    component: text(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'the name of a component')
      .exactOptional()
      .meta({ default: DEFAULTS.component, description: 'Component; of no meaning in a flat repository.' }),
    key: key('Its signing key, armored: URL or file. Default: gpg below the url.'),
    fingerprint: fingerprint().exactOptional().meta({
      default: DEFAULTS.fingerprint,
      description: "Fingerprint of the signing key. Default: that of Docker's rpm packages, which is another key.",
    }),
  })
  .prefault({})
  .meta({ description: 'The repository of hosts with rpm packages.' });
