import { REPOSITORY } from '../../src/versions.ts';
import type { Described } from './packages.ts';
import { executableName, PLATFORMS } from './platforms.ts';

const UNKNOWN = '0'.repeat(64);

/** Homebrew's formula of a release, with the checksums of its executables by name. */
export function formula({ version, description, homepage }: Described, sums: ReadonlyMap<string, string>): string {
  const source = (name: string): string => {
    const platform = PLATFORMS.find((one) => one.name === name)!;
    const file = executableName(platform);
    return [
      `      url "${REPOSITORY}/releases/download/v${version}/${file}"`,
      `      sha256 "${sums.get(file) ?? UNKNOWN}"`,
    ].join('\n');
  };
  const system = (brew: string, node: string): string =>
    [
      `  on_${brew} do`,
      ...(['arm', 'intel'] as const).flatMap((cpu) => [
        `    on_${cpu} do`,
        source(`${node}-${cpu === 'arm' ? 'arm64' : 'x64'}`),
        '    end',
      ]),
      '  end',
    ].join('\n');
  return `class Kbuild < Formula
  desc "${description}"
  homepage "${homepage}"
  version "${version}"
  license "Apache-2.0"

${system('macos', 'darwin')}

${system('linux', 'linux')}

  def install
    bin.install Dir["kbuild-*"].first => "kbuild"
    generate_completions_from_executable(bin/"kbuild", "completion")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/kbuild --version").strip
  end
end
`;
}
