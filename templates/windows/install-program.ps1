# Installs a program: fetches it (or takes an upload), verifies it, then puts it in its place: all of its files or none.
# Url: source of the file; empty: it was uploaded to Uploaded. Sha256: its checksum; empty: SumUrl has it. Archive: it
# is a tar archive, of which Strip leading folders are stripped. Target: the program, or the folder of the archive's
# content. Last: the file of an archive that comes last, because it tells the version. Proxy: a URL, or empty. Stop:
# services that use the program; they are stopped before it is replaced, and where that fails, those that ran run again.
# Crictl: crictl.exe where the program is the container runtime, or empty: the pods of the host are removed before the
# runtime stops, because their shims are its program, and what ran runs again in any case. Endpoint: the runtime's, for
# crictl.
[CmdletBinding()]
param(
    [string]$Url = '',
    [string]$Uploaded = '',
    [string]$Sha256 = '',
    [string]$SumUrl = '',
    [bool]$Archive = $false,
    [int]$Strip = 0,
    [Parameter(Mandatory = $true)][string]$Target,
    [string]$Last = '',
    [string]$Proxy = '',
    [string[]]$Stop = @(),
    [string]$Crictl = '',
    [string]$Endpoint = ''
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# The arguments of curl for every download. Without --noproxy it takes a proxy from the machine's environment. A
# download that begins with TLS stays with TLS, wherever it is redirected.
function Get-CurlArguments([string]$Through, [string]$From) {
    $over = '=http,https'
    if ($From.StartsWith('https:')) { $over = '=https' }
    $arguments = @('-fsSL', '--proto', $over, '--proto-redir', $over, '--retry', '3', '--connect-timeout', '30', '--speed-limit', '1024', '--speed-time', '60')
    if ($Through -ne '') { $arguments += @('--proxy', $Through) } else { $arguments += @('--noproxy', '*') }
    # Behind a proxy the lists of revoked certificates are often out of reach. curl knows the option since 7.70.
    $said = @(Invoke-Native -Exe 'curl.exe' -Arguments @('--version')) -join ' '
    if ($said -match 'curl (\d+)\.(\d+)\.' -and ([int]$Matches[1] -gt 7 -or ([int]$Matches[1] -eq 7 -and [int]$Matches[2] -ge 70))) {
        $arguments += @('--ssl-revoke-best-effort')
    }
    return $arguments
}
# Files of the program, and where each belongs; Final comes last.
function Get-Moves([string]$From, [string]$To, [string]$Aside, [string]$Final) {
    $first = @()
    $end = @()
    foreach ($item in @(Get-ChildItem -LiteralPath $From -Recurse -File -Force)) {
        $place = $item.FullName.Substring($From.Length)
        $move = @{ from = $item.FullName; to = "$To$place"; aside = "$Aside$place" }
        if ($item.Name -eq $Final) { $end += $move } else { $first += $move }
    }
    return @($first + $end)
}
function Remove-Leftover([string]$Path) {
    if (Test-Path -LiteralPath $Path) { Remove-Tree -Path $Path }
}
$file = $Uploaded
if ($file -eq '') { $file = "$Target.download" }
$unpacked = "$Target.unpacked"
$aside = "$Target.old"
$parent = Split-Path -Path $Target -Parent
if (-not (Test-Path -LiteralPath $parent)) { New-Item -Path $parent -ItemType 'Directory' -Force | Out-Null }
$ran = @()
$placed = $false
try {
    $curl = @()
    if ($Url -ne '' -or $Sha256 -eq '') { $curl = @(Get-CurlArguments $Proxy $Url) }
    $wanted = $Sha256
    if ($wanted -eq '') {
        $sums = @(Invoke-Native -Exe 'curl.exe' -Arguments ($curl + @($SumUrl))) -join "`n"
        if ($sums -match '[0-9A-Fa-f]{64}') {
            $wanted = [string]$Matches[0]
        } else {
            throw "no SHA-256 at $SumUrl"
        }
    }
    if ($Url -ne '') { Invoke-Native -Exe 'curl.exe' -Arguments ($curl + @('-o', $file, $Url)) | Out-Null }
    $found = Get-FileSha256 -Path $file
    if ($found -ne $wanted) { throw "checksum mismatch: $Url$Uploaded has SHA-256 $found, and $wanted was expected" }
    $stamp = Get-UnixMilliseconds
    $moves = @(@{ from = $file; to = $Target; aside = "$aside\$stamp\$(Split-Path -Path $Target -Leaf)" })
    if ($Archive) {
        Remove-Leftover $unpacked
        New-Item -Path $unpacked -ItemType 'Directory' -Force | Out-Null
        Invoke-Native -Exe 'tar.exe' -Arguments @('-xf', $file, '-C', $unpacked, "--strip-components=$Strip") | Out-Null
        $moves = @(Get-Moves $unpacked $Target "$aside\$stamp" $Last)
        if ($moves.Count -eq 0) { throw "there is no file in $Url$Uploaded" }
    }
    foreach ($service in $Stop) {
        if ($null -ne (Find-Existing -Look { Get-Service -Name $service -ErrorAction 'Stop' })) {
            $dependents = @(Get-ActiveDependents -Name $service)
            $active = (Wait-ServiceState -Name $service) -ne 'Stopped'
            if ($active) { $ran += @($service) }
            $ran += $dependents
            # The kubelet among them would make the pods again.
            foreach ($dependent in $dependents) { Stop-ServiceInTime -Name $dependent }
            if ($Crictl -ne '' -and $active -and (Test-Path -LiteralPath $Crictl)) {
                Invoke-Native -Exe $Crictl -Arguments @('--runtime-endpoint', $Endpoint, '--timeout', '60s', 'rmp', '--all', '--force') | Out-Null
            }
            Stop-ServiceInTime -Name $service
        }
    }
    Move-FilesOver -Files $moves
    $placed = $true
} finally {
    try {
        foreach ($service in $ran) {
            if (-not $placed -or $Crictl -ne '') { Start-ServiceInTime -Name $service }
        }
    } finally {
        # What a program still runs from stays until the next time, or until reset.
        foreach ($left in @($file, $unpacked, $aside)) {
            try { Remove-Leftover $left }
            catch { $null = $_ }
        }
    }
}
Write-Result -Value @{ installed = $Target; sha256 = $wanted.ToLowerInvariant() }
