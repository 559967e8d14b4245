# kubeadm's join or reset, as a job whose working directory holds config.yaml. Action: join or reset. Program: kubeadm.exe.
# Cluster: its name. Marker: a file that is there while kubeadm works, and goes when it has succeeded. Services: what is
# stopped before a reset; Paths: what goes after it. Variables: a list of objects with name and value for kubeadm's environment.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Action,
    [Parameter(Mandatory = $true)][string]$Program,
    [Parameter(Mandatory = $true)][string]$Cluster,
    [Parameter(Mandatory = $true)][string]$Marker,
    [string[]]$Services = @(),
    [string[]]$Paths = @(),
    $Variables = @()
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($variable in @($Variables)) { Set-Item -Path "Env:$($variable.name)" -Value $variable.value }
$mark = ConvertTo-Json -InputObject @{ cluster = $Cluster; action = $Action; job = 'kubeadm' } -Compress
Write-TextFile -Path $Marker -Text $mark
$output = @()
if ($Action -eq 'join') {
    $output = @(Invoke-Native -Exe $Program -Arguments @('join', '--config', 'config.yaml'))
} elseif ($Action -eq 'reset') {
    foreach ($service in $Services) {
        if ($null -ne (Get-Service -Name $service -ErrorAction 'SilentlyContinue')) {
            Stop-Service -Name $service -Force -WarningAction 'SilentlyContinue'
        }
    }
    if (Test-Path -LiteralPath $Program -PathType 'Leaf') {
        $output = @(Invoke-Native -Exe $Program -Arguments @('reset', '--config', 'config.yaml'))
    }
    foreach ($path in $Paths) {
        if (Test-Path -LiteralPath $path) { Remove-Item -LiteralPath $path -Recurse -Force }
    }
} else {
    throw "no such action: $Action"
}
Remove-Item -LiteralPath $Marker -Force
Write-Result -Value @{ output = @($output) }
