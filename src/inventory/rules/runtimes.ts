import { containerRuntime } from '../../components/runtimes/index.ts';
import type { ContainerRuntime } from '../../components/runtimes/runtime.ts';
import type { Download } from '../../model/inventory.ts';
import { minorOf } from '../../versions.ts';
import { runtimeFileOf } from '../levels.ts';
import type { InventoryFile } from '../schema.ts';
import { problem, warning, type Rule } from './rule.ts';

/** Architectures of hosts, as releases name them. */
const ARCHITECTURES = ['amd64', 'arm64'] as const;

/** The runtimes that hosts of the file have, each once. */
function runtimesOf(file: InventoryFile): readonly ContainerRuntime[] {
  const hosts = file.hosts.filter(({ os, role }) => os !== 'windows' && role !== 'load-balancer');
  const names = new Set(hosts.map((host) => runtimeFileOf(file, host).name));
  return [...names].map((name) => containerRuntime({ runtime: { name } }));
}

/** Every runtime can reach the registries in the way that is described. */
export const runtimeRegistries: Rule = (file) =>
  file.runtime.registries.flatMap(({ host, mirrors, username }, i) =>
    runtimesOf(file).flatMap(({ cannotReach }) => {
      const way = { host, mirrors, ...(username === undefined ? {} : { username }) };
      const reason = cannotReach?.(way);
      return reason === undefined ? [] : [problem(['runtime', 'registries', i], reason)];
    }),
  );

/**
 * The programs that a runtime needs beside its packages fit Kubernetes, and the SHA-256 of each is known for some architecture: which
 * one a host has is not known here.
 */
export const runtimePrograms: Rule = (file) =>
  runtimesOf(file).flatMap(({ title, programs = [] }) =>
    programs.flatMap(({ name, from, version: preset, misfit }) => {
      const { url, checksums, version = preset }: Download = file.downloads[from];
      const why = misfit(minorOf(file.kubernetes.version), version);
      const urls = ARCHITECTURES.map((arch) => url.replaceAll('{version}', version).replaceAll('{arch}', arch));
      return [
        ...(why === undefined
          ? []
          : [(why.severity === 'error' ? problem : warning)(['downloads', from, 'version'], why.message)]),
        ...(checksums !== undefined || urls.some((one) => file.downloads.sha256[one] !== undefined)
          ? []
          : [
              problem(
                ['downloads', 'sha256'],
                `${title} needs ${name}, whose project publishes no checksums: name the SHA-256 of ${urls.join(' or of ')}, as your hosts are, or set downloads.${from}.checksums`,
              ),
            ]),
      ];
    }),
  );

/** A file into which kbuild merges its settings is not distributed by `files`. */
export const runtimeSharedFiles: Rule = (file) =>
  runtimesOf(file).flatMap(({ shared }) =>
    file.files.flatMap(({ path }, i) =>
      path === shared?.path
        ? [problem(['files', i, 'path'], 'kbuild merges settings into this file: put yours into runtime.config')]
        : [],
    ),
  );
