# Removes the route to 169.254.169.254 that the file Note records, and the file.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Note)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$routes = @(Find-Existing -Look { Get-NetRoute -DestinationPrefix '169.254.169.254/32' -ErrorAction 'Stop' })
if ($routes.Count -gt 0) { Invoke-Native -Exe 'route.exe' -Arguments @('delete', '169.254.169.254') | Out-Null }
if (Test-Path -LiteralPath $Note) { Remove-Item -LiteralPath $Note -Force }
Write-Result -Value @{ removed = $routes.Count }
